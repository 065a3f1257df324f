package tool

// Set is a number of tools, in the order in which the model is told of them.
type Set struct{ tools []Tool }

// NewSet returns all tools that the agent has.
func NewSet() *Set {
	return &Set{tools: []Tool{execCommand{}, writeStdin{}, applyPatch{}, readFile{}, viewImage{}}}
}

// All returns the tools. The caller must not change the slice.
func (s *Set) All() []Tool { return s.tools }

// Lookup finds a tool by its name.
func (s *Set) Lookup(name string) (Tool, bool) {
	for _, t := range s.tools {
		if t.Name() == name {
			return t, true
		}
	}
	return nil, false
}

// Names returns the names of the tools, for a message to a model that called
// one that does not exist.
func (s *Set) Names() []string {
	names := make([]string, len(s.tools))
	for i, t := range s.tools {
		names[i] = t.Name()
	}
	return names
}
