package engine

import "fmt"

// NoticeKind says what happened to the database before the engine started.
type NoticeKind string

// The kinds of notices.
const (
	// NoticeDamaged: the database was not readable; it was set aside and an
	// empty one took its place.
	NoticeDamaged NoticeKind = "damaged"
	// NoticeNewer: a newer version of the app wrote the database; it was set
	// aside and an empty one took its place.
	NoticeNewer NoticeKind = "newer"
	// NoticeUpgraded: an older version wrote the database; it was copied into
	// the present form, and the old file is kept.
	NoticeUpgraded NoticeKind = "upgraded"
)

// Notice is something that the user must be told about the start.
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
		return fmt.Sprintf("The engine's database was damaged (%s). It is kept as %s; running work in it could not be continued.", n.Detail, n.Kept)
	case NoticeNewer:
		return fmt.Sprintf("The engine's database was written by a newer version of the app (%s). It is kept as %s; install that version to go on with it.", n.Detail, n.Kept)
	case NoticeUpgraded:
		return fmt.Sprintf("The engine's database was brought up to date (%s). The old one is kept as %s.", n.Detail, n.Kept)
	default:
		return n.Detail
	}
}
