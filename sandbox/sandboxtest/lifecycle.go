package sandboxtest

import (
	"errors"
	"strings"
	"testing"

	"temporal-sandbox-agent/sandbox"
)

func (s *suite) testLifecycle(t *testing.T) {
	sb := s.create(t, "life")
	if s.Spec.Root == "" {
		s.write(t, "of-another", "")
		if _, err := sb.Files().Stat(t.Context(), "of-another"); sandbox.KindOf(err) != sandbox.KindNotFound {
			t.Errorf("two sandboxes share the root %s: %v", sb.Root(), err)
		}
	}
	if ref := sb.Ref(); ref.Backend != s.provider.Name() || ref.ID == "" || ref.Root != sb.Root() {
		t.Errorf("Ref %+v of a sandbox of %s with root %s", ref, s.provider.Name(), sb.Root())
	}
	if err := sb.Files().Write(t.Context(), "kept", strings.NewReader("still here"), 0); err != nil {
		t.Fatal(err)
	}
	if err := sb.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := sb.Close(t.Context()); err != nil {
		t.Errorf("Close again: %v", err)
	}

	other, err := s.provider.Attach(t.Context(), again(t, sb.Ref()))
	if err != nil {
		t.Fatalf("Attach: %v", err)
	}
	if got := readFile(t, other, "kept", 0, -1); got != "still here" {
		t.Errorf("after Attach the file holds %q", got)
	}
	if got := shell(t, other, "", `cat kept; printf %s "$SUITE"`); got != "still herefrom the spec" {
		t.Errorf("after Attach a command prints %q", got)
	}
	if got, want := again(t, other.Ref()), again(t, sb.Ref()); got.ID != want.ID || got.Root != want.Root || got.OwnRoot != want.OwnRoot {
		t.Errorf("after Attach the Ref is %+v, want %+v", got, want)
	}

	// What runs ends with the sandbox.
	j := s.Journal(other)
	id := callID(t, "life")
	running := startCommand(t, j, id, "sleep 1000")
	if err := s.provider.Destroy(t.Context(), again(t, sb.Ref())); err != nil {
		t.Fatalf("Destroy: %v", err)
	}
	if err := s.provider.Destroy(t.Context(), again(t, sb.Ref())); err != nil {
		t.Errorf("Destroy again: %v", err)
	}
	s.eventually(t, "the command has ended", func() bool {
		_, ended, err := running.Exit(t.Context())
		return ended || err != nil // the journal may be gone with the sandbox
	})
	_, err = other.Exec(t.Context(), sandbox.Cmd{Args: []string{"true"}})
	wantGone(t, "Exec after Destroy", err, s.Spec.Root)
	_, err = other.Files().Stat(t.Context(), "kept")
	wantGone(t, "Stat after Destroy", err, s.Spec.Root)
	err = other.Files().Write(t.Context(), "new", strings.NewReader("x"), 0)
	wantGone(t, "Write after Destroy", err, s.Spec.Root)
	if got, err := s.provider.Attach(t.Context(), again(t, sb.Ref())); err == nil && s.Spec.Root == "" {
		t.Errorf("Attach after Destroy: %v", got)
	} else {
		wantGone(t, "Attach after Destroy", err, s.Spec.Root)
	}
	unknown := again(t, sb.Ref())
	unknown.Backend = "no-such-backend"
	if _, err := s.provider.Attach(t.Context(), unknown); err == nil {
		t.Error("Attach to another backend's sandbox succeeds")
	}
	var classified *sandbox.Error
	if err := s.provider.Destroy(t.Context(), unknown); !errors.As(err, &classified) {
		t.Errorf("Destroy of another backend's sandbox: %v", err)
	}
}

// wantGone fails unless err is KindGone; a root that somebody picked stays.
func wantGone(t *testing.T, what string, err error, picked string) {
	t.Helper()
	if picked == "" {
		wantKind(t, what, err, sandbox.KindGone)
	}
}
