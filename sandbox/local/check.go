//go:build unix

package local

// Check tells whether a folder can be the root of a sandbox, as Create would:
// the error says why not.
func (p *Provider) Check(root string) error {
	_, err := p.pickedRoot(root)
	return err
}
