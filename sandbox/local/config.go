// Package local works in folders of this machine. Its commands are not
// confined: they can do what the user can. Its file methods are, to the
// workspace.
package local

// Config says where and how local sandboxes work.
type Config struct {
	// WorkspacesDir is where fresh workspaces are made; it is made when needed.
	WorkspacesDir string
	// StateDir keeps the journal. It is made, for the user alone, and no
	// workspace may hold it.
	StateDir string
	// Home is the user's home folder, which can't be a workspace; "" is the
	// system's idea of it.
	Home string
	// Scrub names environment variables that commands don't get, besides the
	// app's own; one that ends in "*" stands for all that begin so.
	Scrub []string
	// Environ returns the user's environment; nil is os.Environ.
	Environ func() []string
	// Holder has the journal run commands by a second process of this program,
	// which is faster and gives terminals without further tools. The program
	// must call journal.HolderMain (see journal.HolderArg). Without it the
	// portable shell wrapper is used.
	Holder bool
	// HolderProgram is another program that does; "" is this one.
	HolderProgram string
	// OutputCap is how many bytes of a command's output the journal keeps; 0 is
	// journal.DefaultOutputCap.
	OutputCap int64
}

// name is the backend's.
const name = "local"
