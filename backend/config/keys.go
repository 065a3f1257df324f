package config

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"temporal-sandbox-agent/backend/protocol"
)

// maxValue is the longest value that Set takes, in bytes.
const maxValue = 8 << 10

// Keys finds keys: in the environment, in the .env file of the folder in which
// the app was started, in that of the data folder, and then where the app keeps
// them itself: in the system's keyring or, without one, in a file that only the
// user can read. It is safe for concurrent use. The keyring is asked only for what is found nowhere before
// it, and never for longer than 2 seconds.
type Keys struct {
	dotEnvs []dotEnv
	ring    *patientRing
	file    *keyFile

	mu      sync.Mutex
	notices []string
}

// NewKeys returns the keys of an installation. It does not touch the keyring.
func NewKeys(p Paths) *Keys {
	start, err := os.Getwd()
	if err != nil {
		start = "" // the folder is gone: no .env in it
	}
	return newKeys(p, start, newPatientRing(systemRing{}, p.keyringService()))
}

func newKeys(p Paths, start string, r *patientRing) *Keys {
	k := &Keys{ring: r}
	k.file = &keyFile{path: filepath.Join(p.Config, keyFileName), tell: k.notice}
	dirs := []string{p.Data}
	if start != "" && start != p.Data {
		dirs = []string{start, p.Data}
	}
	for _, dir := range dirs {
		d, notice := readDotEnv(dir)
		k.dotEnvs = append(k.dotEnvs, d)
		k.notice(notice)
	}
	// A project can bring a .env along: that it says where to send a
	// conversation must not go unseen.
	if d := k.dotEnvs[0]; len(k.dotEnvs) > 1 {
		for _, n := range names() {
			if n.redirects && d.values[n.name] != "" {
				k.notice(fmt.Sprintf("%s comes from %s: %s.", n.name, d.path, d.values[n.name]))
			}
		}
	}
	return k
}

func (k *Keys) notice(text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if text != "" && !slices.Contains(k.notices, text) {
		k.notices = append(k.notices, text)
	}
}

// Notices tells, in sentences for the user, what was ignored and why.
func (k *Keys) Notices() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.notices)
}

// source is where a value was found. Values of one source belong together; what
// the app itself keeps, in the keyring and in its file, is one source.
type source struct {
	where Where
	path  string // of the .env file
}

func (s source) own() bool { return s.where == WhereKeyring || s.where == WhereFile }

func (s source) same(o source) bool { return s == o || s.own() && o.own() }

// find returns the value of a name and where it is from, without looking at
// what it belongs to.
func (k *Keys) find(ctx context.Context, n name) (string, source, error) {
	if v := strings.TrimSpace(os.Getenv(n.name)); v != "" {
		return v, source{where: WhereEnvironment}, nil
	}
	for _, d := range k.dotEnvs {
		if v := d.values[n.name]; v != "" {
			return v, source{WhereDotEnv, d.path}, nil
		}
	}
	// The file before the keyring: a secret is in it only when the keyring did
	// not take it, so what the keyring may still hold is older.
	v, err := k.file.get(n.name)
	if err != nil || v != "" {
		return v, source{where: WhereFile}, err
	}
	if n.secret {
		v, err := k.ring.get(ctx, n.name)
		if ctx.Err() != nil {
			return "", source{}, ctx.Err()
		}
		if err == nil && v != "" { // without a keyring it is not set
			return v, source{where: WhereKeyring}, nil
		}
	}
	return "", source{}, nil
}

// resolve is find for names that belong to a key: a value that says where the
// key is sent to counts only if it is from where the key is from, or from the
// environment. So a .env file in somebody's project can't have a key sent to
// them.
func (k *Keys) resolve(ctx context.Context, n name) (string, source, error) {
	value, from, err := k.find(ctx, n)
	if err != nil || value == "" || n.key == "" || from.where == WhereEnvironment {
		return value, from, err
	}
	key, ok := lookUpName(n.key)
	if !ok {
		return value, from, nil
	}
	secret, keyFrom, err := k.find(ctx, key)
	if err != nil {
		return "", source{}, err
	}
	if secret == "" || keyFrom.same(from) {
		return value, from, nil
	}
	k.notice(fmt.Sprintf("%s of %s is ignored: the key it belongs to comes from elsewhere (%s).", n.name, from.text(), keyFrom.text()))
	return "", source{}, nil
}

func (s source) text() string {
	switch s.where {
	case WhereEnvironment:
		return "the environment"
	case WhereDotEnv:
		return s.path
	case WhereKeyring:
		return "the keyring"
	case WhereFile:
		return "the settings"
	default:
		return "nowhere"
	}
}

// Get returns the value of a name, empty if it is not set. What hinders the
// reading is told in Notices.
func (k *Keys) Get(ctx context.Context, name string) string {
	value, _ := k.Where(ctx, name)
	return value
}

// Where returns the value of a name and where it is kept.
func (k *Keys) Where(ctx context.Context, name string) (string, Where) {
	n, ok := lookUpName(name)
	if !ok {
		return "", WhereNowhere
	}
	value, from, err := k.resolve(ctx, n)
	if err != nil {
		if ctx.Err() == nil {
			k.notice(fmt.Sprintf("%s could not be looked up: %v.", name, err))
		}
		return "", WhereNowhere
	}
	return value, from.where
}

// Has tells whether a name is set.
func (k *Keys) Has(ctx context.Context, name string) bool { return k.Get(ctx, name) != "" }

// OpenAI is a key of OpenAI with what belongs to it.
type OpenAI struct {
	Key, BaseURL, Organization, Project string
}

// OpenAI returns the key of OpenAI with what belongs to it.
func (k *Keys) OpenAI(ctx context.Context) OpenAI {
	return OpenAI{
		Key:          k.Get(ctx, KeyOpenAI),
		BaseURL:      k.Get(ctx, KeyOpenAIBaseURL),
		Organization: k.Get(ctx, KeyOpenAIOrg),
		Project:      k.Get(ctx, KeyOpenAIProject),
	}
}

// List tells of all names for the settings page, without telling secrets, and
// of the keys of the user's own servers after them.
func (k *Keys) List(ctx context.Context, endpoints []protocol.Endpoint) []protocol.KeyInfo {
	all := names()
	for _, e := range endpoints {
		all = append(all, endpointKey(e))
	}
	infos := make([]protocol.KeyInfo, 0, len(all))
	for i, n := range all {
		value, where := k.Where(ctx, n.name)
		info := protocol.KeyInfo{
			Name: n.name, Label: n.label, Secret: n.secret, Set: value != "", Where: string(where),
			ReadOnly: where == WhereEnvironment || where == WhereDotEnv,
		}
		if n.secret {
			info.Hint = hint(value)
		} else {
			info.Value = value
		}
		if of := i - (len(all) - len(endpoints)); of >= 0 {
			info.Endpoint = endpoints[of].Name
		}
		infos = append(infos, info)
	}
	return infos
}

// hint is the end of a secret, if what is left out is long enough.
func hint(value string) string {
	if len(value) < 12 {
		return ""
	}
	return "…" + strings.ToValidUTF8(value[len(value)-4:], "")
}

// Set keeps a value: secrets in the keyring or, if there is none, in the file.
// A value that something before them decides, or that can't be one, is refused
// with a *protocol.Fault.
func (k *Keys) Set(ctx context.Context, name, value string) error {
	n, err := k.changeable(ctx, name)
	if err != nil {
		return err
	}
	value = strings.TrimSpace(value)
	if err := checkValue(n, value); err != nil {
		return err
	}
	if value == "" {
		return k.Delete(ctx, name)
	}
	if n.secret {
		err := k.ring.set(ctx, name, value)
		if err == nil {
			// An older copy must not outlive it.
			return k.inFile(name, "")
		}
		if !errors.Is(err, errNoKeyring) {
			return fmt.Errorf("keep %s: %w", name, err)
		}
	}
	return k.inFile(name, value)
}

// Delete forgets a value wherever we keep it.
func (k *Keys) Delete(ctx context.Context, name string) error {
	n, err := k.changeable(ctx, name)
	if err != nil {
		return err
	}
	if n.secret {
		// What could not be read can't be known to be there.
		if err := k.ring.delete(ctx, name); err != nil && !errors.Is(err, errNoKeyring) {
			return fmt.Errorf("forget %s: %w", name, err)
		}
	}
	return k.inFile(name, "")
}

func (k *Keys) inFile(name, value string) error {
	if err := k.file.set(name, value); err != nil {
		return folderFault(filepath.Dir(k.file.path), fmt.Errorf("keep %s: %w", name, err))
	}
	return nil
}

func (k *Keys) changeable(ctx context.Context, text string) (name, error) {
	n, ok := lookUpName(text)
	if !ok {
		return name{}, &protocol.Fault{Class: protocol.ClassBadInput, Happened: "There is no such key.", Detail: text}
	}
	_, from, err := k.find(ctx, n)
	if err != nil {
		return name{}, fmt.Errorf("look up %s: %w", text, err)
	}
	if from.where == WhereEnvironment || from.where == WhereDotEnv {
		return name{}, &protocol.Fault{
			Class:    protocol.ClassBadInput,
			Happened: fmt.Sprintf("%s is set by %s.", text, from.text()),
			Kept:     "It is as it was.",
			Remedy:   "Change it there, then start the app again.",
		}
	}
	return n, nil
}

func checkValue(n name, value string) error {
	bad := func(what string) error {
		return &protocol.Fault{Class: protocol.ClassBadInput, Happened: what, Kept: n.label + " is as it was.", Detail: n.name}
	}
	switch {
	case len(value) > maxValue:
		return bad("This is too long.")
	case strings.ContainsFunc(value, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }):
		return bad("There are characters in it that can't be part of it.")
	case n.secret && strings.ContainsFunc(value, unicode.IsSpace):
		return bad("A key has no spaces in it.")
	case strings.HasSuffix(n.name, "_URL") && value != "" && !isWebAddress(value):
		return bad("An address begins with http:// or https://.")
	}
	return nil
}

// SecretNames are the names of variables that no sandbox may see.
func (k *Keys) SecretNames() []string {
	var out []string
	for _, n := range names() {
		out = append(out, n.name)
	}
	return out
}

// SecretValues are the secrets that are known now, for keeping them out of
// logs. It does not wait for the keyring.
func (k *Keys) SecretValues() []string {
	var out []string
	add := func(v string) {
		// Shorter ones would blacken half of any text.
		if v = strings.TrimSpace(v); len(v) >= 8 && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	for _, n := range names() {
		if !n.secret {
			continue
		}
		add(os.Getenv(n.name))
		for _, d := range k.dotEnvs {
			add(d.values[n.name])
		}
		add(k.ring.remembered(n.name))
		if v, err := k.file.get(n.name); err == nil {
			add(v)
		}
	}
	for _, v := range k.ring.allRemembered(endpointPrefix) {
		add(v)
	}
	if all, err := k.file.all(endpointPrefix); err == nil {
		for _, v := range all {
			add(v)
		}
	}
	return out
}

// Redact replaces the secrets in a text.
func (k *Keys) Redact(text string) string {
	for _, v := range k.SecretValues() {
		text = strings.ReplaceAll(text, v, "[secret]")
	}
	return text
}
