package protocol

import (
	"strings"
	"time"
)

// Onto says what to do with what a local folder holds already when a tree is
// put there.
type Onto string

// What to do with a folder that is not empty.
const (
	// OntoEmpty: it must be empty, or hold the very same files.
	OntoEmpty Onto = ""
	// OntoMerge: what has another name stays, what has the same is replaced.
	OntoMerge Onto = "merge"
	// OntoReplace: afterwards it holds what the tree holds and nothing else. What
	// was in it is captured first.
	OntoReplace Onto = "replace"
)

// When says what to do when a turn is under way.
type When string

// When a session's branch is taken, or moved.
const (
	// WhenIdle: only between turns.
	WhenIdle When = ""
	// WhenLast (fork): from the last commit; the turn is not disturbed.
	WhenLast When = "last"
	// WhenEnd: after the turn's end.
	WhenEnd When = "end"
	// WhenStop (switch, rewind): the turn is stopped first.
	WhenStop When = "stop"
)

// Target is where a tree goes.
type Target struct {
	Backend string `json:"backend"`
	// Workspace is an absolute folder of this machine (local only); empty asks
	// for a fresh one.
	Workspace string `json:"workspace,omitempty"`
	Image     string `json:"image,omitempty"`
	Onto      Onto   `json:"onto,omitempty"`
}

// ForkRequest asks for a new session that goes on where another was.
type ForkRequest struct {
	// ID is the session that is forked; NewID, chosen by the caller (a UUID),
	// that of the fork.
	ID    string `json:"id"`
	NewID string `json:"newId,omitempty"`
	// Title is empty for "… (fork #N)", or "… [docker]" on another backend.
	Title string `json:"title,omitempty"`
	// Turn is the id of the turn after which it forks; empty is the state of now.
	Turn   string `json:"turn,omitempty"`
	When   When   `json:"when,omitempty"`
	Target Target `json:"target"`
	// FilesOnly leaves the conversation behind: a new session from a snapshot.
	FilesOnly bool `json:"filesOnly,omitempty"`
}

// ForkResult is the new session.
type ForkResult struct {
	Session Session `json:"session"`
	Receipt Receipt `json:"receipt"`
}

// SwitchRequest asks to move a session to another place.
type SwitchRequest struct {
	ID     string `json:"id"`
	When   When   `json:"when,omitempty"`
	Target Target `json:"target"`
}

// RewindWhat says what a rewind takes back.
type RewindWhat string

// What a rewind takes back.
const (
	RewindBoth         RewindWhat = "both"
	RewindConversation RewindWhat = "conversation"
	RewindFiles        RewindWhat = "files"
)

// RewindRequest asks to take a session back to the end of a turn.
type RewindRequest struct {
	ID string `json:"id"`
	// Turn is the id of the turn to which it goes back; empty is the beginning,
	// before the first turn.
	Turn string     `json:"turn,omitempty"`
	What RewindWhat `json:"what"`
	When When       `json:"when,omitempty"`
	// Undo is the id of an earlier rewind that is to be taken back; Turn and What
	// do not count then.
	Undo string `json:"undo,omitempty"`
}

// Receipt tells what a fork, a switch, a rewind or an import did, or why it
// left everything as it was.
type Receipt struct {
	// What is "fork", "switch", "rewind", "revert", "new", "import" or "remake" (a
	// sandbox that was gone).
	What string `json:"what"`
	// From and To are where the files were and are.
	From Spot `json:"from"`
	To   Spot `json:"to"`
	// Snapshot is the tree that was carried, empty if the session has no files.
	Snapshot string `json:"snapshot,omitempty"`
	// Files and Bytes count what was carried: regular files, links and folders,
	// and the size of the files.
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	// Written and Removed count the entries that were changed in the target.
	Written int `json:"written"`
	Removed int `json:"removed"`
	// Excluded are folders that the user left out of the session's snapshots.
	Excluded []string `json:"excluded,omitempty"`
	// Skipped are entries that could not be carried, at most 100 of SkippedCount.
	Skipped      []Skipped `json:"skipped,omitempty"`
	SkippedCount int       `json:"skippedCount,omitempty"`
	DurationMs   int64     `json:"durationMs"`
	// Left tells that the place it came from is kept, because it holds what was
	// not captured.
	Left bool `json:"left,omitempty"`
	// Undo is the id by which a rewind is taken back.
	Undo string `json:"undo,omitempty"`
	// Back is true of a rewind that took another one back: to take this one back
	// is to do that again.
	Back bool `json:"back,omitempty"`
	// Kept is the snapshot of what was in the target, or before a rewind.
	Kept string `json:"kept,omitempty"`
	// Turn is the number of the turn that it is the state of; 0 is the beginning.
	Turn int `json:"turn"`
	// RewindWhat is of rewinds.
	RewindWhat RewindWhat `json:"rewindWhat,omitempty"`
	// Fault says why it failed; everything is as it was then.
	Fault *Fault `json:"fault,omitempty"`
}

// Spot names a place in a receipt.
type Spot struct {
	Backend   string `json:"backend"`
	Workspace string `json:"workspace"`
}

// Skipped is a file that a snapshot leaves out, or has not as it should be.
type Skipped struct {
	Path string `json:"path"`
	// Why is a few words: "may not be read", "is a socket", "changed while it was
	// read", "link that leads outside".
	Why string `json:"why"`
}

// Carry tells what a fork or a switch would carry, for its dialog.
type Carry struct {
	// Known is false when the session has no snapshot yet: the numbers are then
	// known only when it is carried.
	Known    bool      `json:"known"`
	Snapshot string    `json:"snapshot,omitempty"`
	Files    int       `json:"files"`
	Bytes    int64     `json:"bytes"`
	Excluded []string  `json:"excluded,omitempty"`
	Skipped  []Skipped `json:"skipped,omitempty"`
	// Title is the default title of a fork.
	Title string `json:"title"`
	// Running tells that a turn is under way.
	Running bool `json:"running"`
	// Commands counts commands that turns left running: they stay behind.
	Commands int `json:"commands"`
}

// Turn is one turn of a session, for lists to choose from.
type Turn struct {
	ID      string    `json:"id"`
	Index   int       `json:"index"`
	Title   string    `json:"title"` // the beginning of the user's message
	Time    time.Time `json:"time" ts_type:"string"`
	Outcome Outcome   `json:"outcome"`
	// Snapshot is empty when none was taken.
	Snapshot string `json:"snapshot,omitempty"`
	// Changed tells that files changed in it.
	Changed bool `json:"changed"`
}

// SnapshotPolicy is what a session's snapshots hold, chosen by the user.
type SnapshotPolicy struct {
	// Exclude are folders or files, relative to the root, that are left out.
	Exclude []string `json:"exclude,omitempty"`
	// Whole captures however large the workspace is.
	Whole bool `json:"whole,omitempty"`
	// Off takes no snapshots.
	Off bool `json:"off,omitempty"`
}

// ValidExclude tells whether a path can be left out of snapshots: relative to
// the root, plain, with slashes.
func ValidExclude(name string) bool {
	if name == "" || strings.IndexByte(name, 0) >= 0 {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// SnapshotAsk is the question what to leave out of a workspace that is over the
// limits.
type SnapshotAsk struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	// Largest are the folders that hold most, the largest first, at most 20.
	Largest []FolderSize `json:"largest"`
}

// FolderSize is a folder with all that is in it.
type FolderSize struct {
	Path  string `json:"path"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
}

// ChangeScope says between which snapshots changes are looked for.
type ChangeScope struct {
	// Turn is the id of a turn: what changed in it. "last" is the last turn with
	// a snapshot, "start" all since the session's beginning.
	Turn string `json:"turn"`
	// Live compares with the files as they are now, not as the turn left them.
	Live bool `json:"live,omitempty"`
}

// Changes are the files that differ between two snapshots.
type Changes struct {
	// From and To are the snapshots; To is empty for the files of now.
	From  string        `json:"from"`
	To    string        `json:"to,omitempty"`
	Files []ChangedFile `json:"files"`
	// Count is how many there are; Files has at most 2,000.
	Count int `json:"count"`
	// Added and Removed count lines of text, as far as they were compared.
	Added   int `json:"added"`
	Removed int `json:"removed"`
	// Missing says why there is nothing to compare ("No snapshot was taken…").
	Missing string    `json:"missing,omitempty"`
	Skipped []Skipped `json:"skipped,omitempty"`
}

// ChangedFile is one file that differs.
type ChangedFile struct {
	Path string `json:"path"`
	// RawPath is the base64 of the real path when it is not valid UTF-8.
	RawPath string `json:"rawPath,omitempty"`
	// Op is "add", "update", "delete" or "mode" (only the permissions).
	Op string `json:"op"`
	// Kind is "file", "dir" or "link", of the new one if there is one.
	Kind    string `json:"kind"`
	OldSize int64  `json:"oldSize"`
	NewSize int64  `json:"newSize"`
	// Added and Removed count lines; Counted is false if they were not compared
	// (binary, or too large).
	Added   int  `json:"added"`
	Removed int  `json:"removed"`
	Counted bool `json:"counted"`
}

// FileDiff is one file before and after.
type FileDiff struct {
	Path string `json:"path"`
	// Old and New are nil where the file is not there.
	Old *FileSide `json:"old,omitempty"`
	New *FileSide `json:"new,omitempty"`
}

// FileSide is one side of a FileDiff.
type FileSide struct {
	// Kind is "text", "image", "binary", "link" or "dir".
	Kind string `json:"kind"`
	Size int64  `json:"size"`
	Mode uint32 `json:"mode"`
	// Text is the whole text (or a link's target), at most 2 MiB; TooLarge is set
	// if there is more, and Text empty.
	Text     string `json:"text,omitempty"`
	Base64   string `json:"base64,omitempty"`
	MIME     string `json:"mime,omitempty"`
	TooLarge bool   `json:"tooLarge,omitempty"`
}

// RevertRequest asks to put files back as they were before the changes of a
// scope.
type RevertRequest struct {
	ID    string      `json:"id"`
	Scope ChangeScope `json:"scope"`
	Path  string      `json:"path"`
	// RawPath is as in ChangedFile.
	RawPath string `json:"rawPath,omitempty"`
}

// StoreUse tells what uses the space of the store.
type StoreUse struct {
	// Bytes is the size of the file; Free is the part of it that is not used.
	Bytes   int64 `json:"bytes"`
	Free    int64 `json:"free"`
	Objects int64 `json:"objects"`
	// Files, Conversations and Other divide what the objects take.
	Files         int64 `json:"files"`
	Conversations int64 `json:"conversations"`
	// Unused is what no session reaches: the next sweep removes it.
	Unused int64 `json:"unused"`
	// Sessions are the largest, by what only they reach, at most 20.
	Sessions []SessionUse `json:"sessions"`
	// Damaged are objects whose content is not what it should be, with whose
	// they are; filled by a check of the store only.
	Damaged []DamagedObject `json:"damaged,omitempty"`
}

// SessionUse is the space that one session takes.
type SessionUse struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Own is what only this session reaches: what destroying it would free.
	Own int64 `json:"own"`
	// All is everything that it reaches.
	All int64 `json:"all"`
}

// DamagedObject is a part of the store that can't be read any more.
type DamagedObject struct {
	Object string `json:"object"`
	// What names it: "turn 3", "src/main.go".
	What      string `json:"what"`
	SessionID string `json:"sessionId,omitempty"`
	Title     string `json:"title,omitempty"`
}

// Swept tells what a sweep of the store removed.
type Swept struct {
	Objects int   `json:"objects"`
	Bytes   int64 `json:"bytes"`
}
