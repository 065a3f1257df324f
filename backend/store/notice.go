package store

import "fmt"

// NoticeKind says what happened to the database when it was opened.
type NoticeKind string

// The kinds of notices.
const (
	// NoticeDamaged: the file could not be read; it was set aside and an empty
	// one took its place.
	NoticeDamaged NoticeKind = "damaged"
	// NoticeNewer: a newer version of the app wrote the file; it was set aside
	// and an empty one took its place.
	NoticeNewer NoticeKind = "newer"
)

// Notice is something that the user must be told about the opening.
type Notice struct {
	Kind NoticeKind
	// Kept is the full name of the file that was set aside.
	Kept string
	// Detail is the technical cause.
	Detail string
}

// Text is the notice as a sentence for the user.
func (n Notice) Text() string {
	switch n.Kind {
	case NoticeDamaged:
		return fmt.Sprintf("The store of conversations was damaged (%s). It is kept as %s, and an empty one was begun.", n.Detail, n.Kept)
	case NoticeNewer:
		return fmt.Sprintf("The store of conversations was written by a newer version of the app (%s). It is kept as %s, and an empty one was begun; install that version to go on with it.", n.Detail, n.Kept)
	default:
		return n.Detail
	}
}
