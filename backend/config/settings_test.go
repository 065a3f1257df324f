package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"temporal-sandbox-agent/backend/protocol"
)

func folders(t *testing.T) Paths {
	t.Helper()
	p, err := FindPaths(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func openSettings(t *testing.T, p Paths) *SettingsStore {
	t.Helper()
	s, err := OpenSettings(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func full() protocol.Settings {
	return protocol.Settings{
		Provider: "openai", Model: "gpt-x", Effort: "high",
		Endpoints: []protocol.Endpoint{{Name: "mine", URL: "http://localhost:8080/v1"}},
		Backend:   "docker", Approve: protocol.ApproveAlways, Theme: "dark", Trace: "none",
		FirstRunDone: true, RecentFolders: []string{"/a", "/b"}, Prefs: json.RawMessage(`{"pane":300}`),
	}
}

func TestSettings(t *testing.T) {
	p := folders(t)
	s := openSettings(t, p)
	if got := s.Get(); !reflect.DeepEqual(got, protocol.Settings{Endpoints: []protocol.Endpoint{}, RecentFolders: []string{}}) {
		t.Errorf("without a file: %+v", got)
	}
	saved, err := s.Save(t.Context(), full())
	if err != nil || !reflect.DeepEqual(saved, full()) || !reflect.DeepEqual(s.Get(), full()) {
		t.Errorf("saved: %+v, %v", saved, err)
	}
	again := openSettings(t, p)
	if got := again.Get(); got.Model != "gpt-x" || len(again.Notices()) != 0 {
		t.Errorf("after reopening: %+v, %q", got, again.Notices())
	}
	if info, err := os.Stat(filepath.Join(p.Config, settingsName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode: %v, %v", info.Mode(), err)
	}
	// Another process saves.
	other := full()
	other.Theme = "light"
	if _, err := again.Save(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if s.Get().Theme != "light" {
		t.Error("what another process saved is not seen")
	}
	// Nobody changes the kept ones through what they were given.
	got := s.Get()
	got.Endpoints[0].Name, got.RecentFolders[0], got.Prefs[0] = "x", "x", 'x'
	if !reflect.DeepEqual(s.Get().Endpoints, full().Endpoints) || s.Get().RecentFolders[0] != "/a" {
		t.Errorf("changed from outside: %+v", s.Get())
	}
}

func TestUnknownFieldsStay(t *testing.T) {
	p := folders(t)
	path := filepath.Join(p.Config, settingsName)
	if err := os.WriteFile(path, []byte(`{"theme":"dark","future":{"deep":[1,2]},"another":7}`), 0o644); err != nil {
		t.Fatal(err)
	}
	s := openSettings(t, p)
	if _, err := s.Save(t.Context(), full()); err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &fields); err != nil {
		t.Fatal(err)
	}
	var deep struct{ Deep []int }
	if err := json.Unmarshal(fields["future"], &deep); err != nil || !reflect.DeepEqual(deep.Deep, []int{1, 2}) || string(fields["another"]) != "7" {
		t.Errorf("unknown fields: %s", content)
	}
	if string(fields["theme"]) != `"dark"` || string(fields["model"]) != `"gpt-x"` {
		t.Errorf("known fields: %s", content)
	}
}

func TestBrokenSettingsAreKeptAside(t *testing.T) {
	p := folders(t)
	path := filepath.Join(p.Config, settingsName)
	const broken = `{"theme":"dark", oops`
	if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openSettings(t, p)
	kept, err := filepath.Glob(path + ".broken-*")
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept: %q, %v", kept, err)
	}
	if content, err := os.ReadFile(kept[0]); err != nil || string(content) != broken {
		t.Errorf("kept: %q, %v", content, err)
	}
	if n := s.Notices(); len(n) != 1 || !strings.Contains(n[0], kept[0]) {
		t.Errorf("notices: %q", n)
	}
	if _, err := s.Save(t.Context(), full()); err != nil || openSettings(t, p).Get().Theme != "dark" {
		t.Errorf("saving afterwards: %v", err)
	}
}

func TestPartlyUsableSettings(t *testing.T) {
	p := folders(t)
	text := `{"theme":5,"model":"kept","approve":"yolo","trace":"everything","endpoints":[{"name":"a","url":"ftp://x"},{"name":"b","url":"http://x"},{"name":"b","url":"http://y"}]}`
	if err := os.WriteFile(filepath.Join(p.Config, settingsName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openSettings(t, p)
	got := s.Get()
	if got.Theme != "" || got.Model != "kept" || got.Approve != protocol.ApproveAlways || got.Trace != "none" ||
		!reflect.DeepEqual(got.Endpoints, []protocol.Endpoint{{Name: "b", URL: "http://x"}}) {
		t.Errorf("%+v", got)
	}
	if n := s.Notices(); len(n) != 1 || !strings.Contains(n[0], "theme") {
		t.Errorf("notices: %q", n)
	}
}

func TestSettingsThatCantWork(t *testing.T) {
	s := openSettings(t, folders(t))
	before, err := s.Save(t.Context(), full())
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*protocol.Settings){
		"theme":        func(s *protocol.Settings) { s.Theme = "pink" },
		"trace":        func(s *protocol.Settings) { s.Trace = "all" },
		"approval":     func(s *protocol.Settings) { s.Approve = "maybe" },
		"no name":      func(s *protocol.Settings) { s.Endpoints[0].Name = " " },
		"no address":   func(s *protocol.Settings) { s.Endpoints[0].URL = "localhost:8080" },
		"file address": func(s *protocol.Settings) { s.Endpoints[0].URL = "file:///etc/passwd" },
		"twice":        func(s *protocol.Settings) { s.Endpoints = append(s.Endpoints, s.Endpoints[0]) },
		"broken prefs": func(s *protocol.Settings) { s.Prefs = json.RawMessage(`{`) },
		"name after trim": func(s *protocol.Settings) {
			s.Endpoints = append(s.Endpoints, protocol.Endpoint{Name: "mine ", URL: "http://x"})
		},
	} {
		bad := full()
		change(&bad)
		_, err := s.Save(t.Context(), bad)
		if f := faultOf(t, err); f.Class != protocol.ClassBadInput {
			t.Errorf("%s: %+v", name, f)
		}
		if !reflect.DeepEqual(s.Get(), before) {
			t.Errorf("%s: the settings were changed", name)
		}
	}
	tidy := full()
	tidy.RecentFolders = strings.Split("/a,/a,,/b,/c,/d,/e,/f,/g,/h,/i,/j,/k,/l,/m,/n", ",")
	tidy.Endpoints[0].URL = " http://localhost:8080/v1/ "
	got, err := s.Save(t.Context(), tidy)
	if err != nil || len(got.RecentFolders) != maxRecent || got.RecentFolders[1] != "/b" || got.Endpoints[0].URL != "http://localhost:8080/v1" {
		t.Errorf("tidied: %+v, %v", got, err)
	}
}

func TestSettingsCantBeWritten(t *testing.T) {
	p := folders(t)
	s := openSettings(t, p)
	if err := os.RemoveAll(p.Config); err != nil {
		t.Fatal(err)
	}
	_, err := s.Save(t.Context(), full())
	faultOf(t, err)
}

func TestConcurrentSaves(t *testing.T) {
	p := folders(t)
	s := openSettings(t, p)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				if _, err := s.Save(t.Context(), full()); err != nil {
					t.Error(err)
				}
				_ = s.Get()
			}
		})
		wg.Go(func() {
			for range 20 {
				if other := openSettings(t, p); len(other.Notices()) != 0 {
					t.Errorf("half a file was read: %q", other.Notices())
				}
			}
		})
	}
	wg.Wait()
	if left, _ := filepath.Glob(p.Config + "/.*"); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}
