package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"temporal-sandbox-agent/backend/protocol"
)

const (
	settingsName = "settings.json"
	// maxRecent is how many folders are remembered.
	maxRecent = 12
)

// SettingsStore keeps the settings in a file. It is safe for concurrent use,
// and sees what another process of the app saved.
type SettingsStore struct {
	path string

	mu      sync.Mutex
	seen    fileStamp
	current protocol.Settings
	// unknown are the fields that a newer version wrote: they stay.
	unknown map[string]json.RawMessage
	notices []string
}

// fileStamp tells whether a file is still the one that was read.
type fileStamp struct {
	modified time.Time
	size     int64
}

// OpenSettings reads the settings. A file that can't be read as such is set
// aside and told in Notices; the settings are then the default ones.
func OpenSettings(p Paths) (*SettingsStore, error) {
	s := &SettingsStore{path: filepath.Join(p.Config, settingsName)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.read(); err != nil {
		return nil, folderFault(s.path, err)
	}
	return s, nil
}

// Notices tells, in sentences for the user, what was wrong with the file.
func (s *SettingsStore) Notices() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.notices)
}

// Get returns the settings as they are now.
func (s *SettingsStore) Get() protocol.Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	// If it can't be read now, what was read before counts.
	_ = s.read()
	return cloneSettings(s.current)
}

// Save replaces the settings, durably, and returns them as they are kept. What
// can't be kept as given is a *protocol.Fault.
func (s *SettingsStore) Save(_ context.Context, settings protocol.Settings) (protocol.Settings, error) {
	settings = tidy(cloneSettings(settings))
	if err := check(settings); err != nil {
		return protocol.Settings{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.read(); err != nil {
		return protocol.Settings{}, folderFault(s.path, err)
	}
	content, err := merge(s.unknown, settings)
	if err != nil {
		return protocol.Settings{}, fmt.Errorf("save the settings: %w", err)
	}
	if err := writeFile(s.path, content); err != nil {
		return protocol.Settings{}, folderFault(s.path, err)
	}
	s.current = settings
	s.seen = stampOf(s.path)
	return cloneSettings(settings), nil
}

// read reads the file if it has changed.
func (s *SettingsStore) read() error {
	stamp := stampOf(s.path)
	if stamp == s.seen {
		return nil
	}
	content, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.current, s.unknown, s.seen = tidy(protocol.Settings{}), nil, stamp
		return nil
	}
	if err != nil {
		return err
	}
	var (
		settings protocol.Settings
		fields   map[string]json.RawMessage
	)
	if err := json.Unmarshal(content, &fields); err != nil {
		kept, aside := setAside(s.path)
		if aside != nil {
			return aside
		}
		s.notices = append(s.notices, fmt.Sprintf("The settings could not be read (%v). They are kept as %s, and the default ones count.", err, kept))
		s.current, s.unknown, s.seen = tidy(protocol.Settings{}), nil, stampOf(s.path)
		return nil
	}
	// A field of the wrong type is left at its default; the others are read.
	if err := json.Unmarshal(content, &settings); err != nil {
		s.notices = append(s.notices, fmt.Sprintf("A part of the settings in %s could not be used: %v.", s.path, err))
	}
	for _, name := range knownFields() {
		delete(fields, name)
	}
	s.current, s.unknown, s.seen = sound(tidy(settings)), fields, stamp
	return nil
}

func stampOf(path string) fileStamp {
	info, err := os.Stat(path)
	if err != nil {
		return fileStamp{size: -1}
	}
	return fileStamp{modified: info.ModTime(), size: info.Size()}
}

// knownFields are the names of the fields in the file.
func knownFields() []string {
	content, err := json.Marshal(protocol.Settings{Prefs: json.RawMessage("null")})
	if err != nil {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(content, &fields); err != nil {
		return nil
	}
	names := make([]string, 0, len(fields))
	for n := range fields {
		names = append(names, n)
	}
	return names
}

// merge writes the settings with the unknown fields beside them.
func merge(unknown map[string]json.RawMessage, settings protocol.Settings) ([]byte, error) {
	known, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	all := map[string]json.RawMessage{}
	for k, v := range unknown {
		all[k] = v
	}
	if err := json.Unmarshal(known, &all); err != nil {
		return nil, err
	}
	content, err := json.MarshalIndent(all, "", "  ")
	return append(content, '\n'), err
}

// tidy brings settings into the form in which they are kept.
func tidy(s protocol.Settings) protocol.Settings {
	s.RecentFolders = slices.DeleteFunc(s.RecentFolders, func(f string) bool { return f == "" })
	seen := map[string]bool{}
	s.RecentFolders = slices.DeleteFunc(s.RecentFolders, func(f string) bool {
		again := seen[f]
		seen[f] = true
		return again
	})
	s.RecentFolders = s.RecentFolders[:min(len(s.RecentFolders), maxRecent)]
	for i := range s.Endpoints {
		s.Endpoints[i].Name = strings.TrimSpace(s.Endpoints[i].Name)
		s.Endpoints[i].URL = strings.TrimRight(strings.TrimSpace(s.Endpoints[i].URL), "/")
	}
	// The page expects lists.
	if s.Endpoints == nil {
		s.Endpoints = []protocol.Endpoint{}
	}
	if s.RecentFolders == nil {
		s.RecentFolders = []string{}
	}
	return s
}

func themes() []string { return []string{"", "system", "light", "dark"} }

func traceModes() []string { return []string{"", "none", "openai", "openai_with_temporal_spans"} }

// check refuses what can't work.
func check(s protocol.Settings) error {
	bad := func(what, detail string) error {
		return &protocol.Fault{Class: protocol.ClassBadInput, Happened: what, Kept: "The settings are as they were.", Detail: detail}
	}
	switch {
	case !slices.Contains(themes(), s.Theme):
		return bad("There is no such theme.", s.Theme)
	case !slices.Contains(traceModes(), s.Trace):
		return bad("There is no such way of tracing: it is none, openai or openai_with_temporal_spans.", s.Trace)
	case s.Approve != "" && !s.Approve.Valid():
		return bad("There is no such approval mode.", string(s.Approve))
	case len(s.Prefs) > 0 && !json.Valid(s.Prefs):
		return bad("The window's state is not valid.", "prefs")
	}
	names := map[string]bool{}
	for _, e := range s.Endpoints {
		switch {
		case e.Name == "":
			return bad("A server of models needs a name.", e.URL)
		case names[e.Name]:
			return bad("Two servers of models have the same name.", e.Name)
		case !isWebAddress(e.URL):
			return bad("The address of a server of models must begin with http:// or https://.", e.URL)
		}
		names[e.Name] = true
	}
	return nil
}

// sound drops what can't work from a file that was edited by hand.
func sound(s protocol.Settings) protocol.Settings {
	if !slices.Contains(themes(), s.Theme) {
		s.Theme = ""
	}
	if !slices.Contains(traceModes(), s.Trace) {
		s.Trace = "none" // it was meant to say something: not to be asked again, and nothing sent
	}
	if s.Approve != "" && !s.Approve.Valid() {
		s.Approve = protocol.ApproveAlways // the careful one
	}
	names := map[string]bool{}
	s.Endpoints = slices.DeleteFunc(s.Endpoints, func(e protocol.Endpoint) bool {
		drop := e.Name == "" || names[e.Name] || !isWebAddress(e.URL)
		names[e.Name] = true
		return drop
	})
	return s
}

func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

func cloneSettings(s protocol.Settings) protocol.Settings {
	s.Endpoints = slices.Clone(s.Endpoints)
	s.RecentFolders = slices.Clone(s.RecentFolders)
	s.Prefs = slices.Clone(s.Prefs)
	return s
}
