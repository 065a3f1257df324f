package snapshot

import "temporal-sandbox-agent/backend/protocol"

// why says why an entry is not in a snapshot, or not as it should be. The numbers
// are stored.
type why byte

const (
	whyUnread   why = iota + 1 // a file
	whyUnlisted                // a folder; it is in the snapshot, but nothing in it
	whySocket
	whyDevice
	whyPipe
	whyChanged // while it was read; it is in the snapshot as it was read
	whyOutside // a restore only
	whyKept    // a restore only
	whyOther
)

func (w why) text() string {
	switch w {
	case whyUnread, whyUnlisted:
		return "may not be read"
	case whySocket:
		return "is a socket"
	case whyDevice:
		return "is a device"
	case whyPipe:
		return "is a pipe"
	case whyChanged:
		return "changed while it was read"
	case whyOutside:
		return "link that leads outside"
	case whyKept:
		return "could not be saved before, so it was left as it is"
	case whyOther:
		return "is no file, folder or link"
	default:
		return ""
	}
}

// lost tells whether the snapshot lacks what is at the path.
func (w why) lost() bool { return w != whyChanged }

type skipped struct {
	path string
	why  why
}

func told(list []skipped) []protocol.Skipped {
	var out []protocol.Skipped
	for _, s := range list {
		out = append(out, protocol.Skipped{Path: s.path, Why: s.why.text()})
	}
	return out
}
