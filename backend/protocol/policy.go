package protocol

import "slices"

// AllowedBy tells whether every part of the call is covered by an allowed
// prefix. A call without prefixes is never covered.
func (a Ask) AllowedBy(prefixes []string) bool {
	if len(a.Prefixes) == 0 {
		return false
	}
	for _, p := range a.Prefixes {
		if !slices.Contains(prefixes, p) {
			return false
		}
	}
	return true
}

// NeedsApproval is the one rule that decides whether the user is asked. It is
// pure, so that a workflow may call it.
func NeedsApproval(mode ApprovalMode, ask Ask, prefixes []string) bool {
	if !ask.Acts || mode == ApproveNever {
		return false
	}
	if ask.AllowedBy(prefixes) {
		return false
	}
	return mode == ApproveAlways || ask.Risky
}
