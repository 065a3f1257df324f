package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"temporal-sandbox-agent/backend/protocol"
)

// fakeRing is a keyring in memory.
type fakeRing struct {
	mu     sync.Mutex
	values map[string]string
	calls  int
	err    error
	hang   chan struct{}
	forget bool // takes secrets and keeps nothing
}

func (r *fakeRing) begin() error {
	r.mu.Lock()
	r.calls++
	hang, err := r.hang, r.err
	r.mu.Unlock()
	if hang != nil {
		<-hang
	}
	return err
}

func (r *fakeRing) Get(service, user string) (string, error) {
	if err := r.begin(); err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.values[service+"/"+user]
	if !ok {
		return "", keyring.ErrNotFound
	}
	return v, nil
}

func (r *fakeRing) Set(service, user, password string) error {
	if err := r.begin(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.forget {
		r.values[service+"/"+user] = password
	}
	return nil
}

func (r *fakeRing) Delete(service, user string) error {
	if err := r.begin(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.values[service+"/"+user]; !ok {
		return keyring.ErrNotFound
	}
	delete(r.values, service+"/"+user)
	return nil
}

func (r *fakeRing) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls
}

// bench is an installation with nothing set.
type installation struct {
	paths Paths
	start string
	ring  *fakeRing
}

func install(t *testing.T) *installation {
	t.Helper()
	for _, n := range names() {
		t.Setenv(n.name, "")
	}
	return &installation{paths: folders(t), start: t.TempDir(), ring: &fakeRing{values: map[string]string{}}}
}

func (i *installation) keys() *Keys {
	r := newPatientRing(i.ring, "svc")
	r.present = func() bool { return true }
	r.timeout = 100 * time.Millisecond
	return newKeys(i.paths, i.start, r)
}

func dotenv(t *testing.T, dir, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, ".env"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func where(t *testing.T, k *Keys, name, value string, place Where) {
	t.Helper()
	if v, w := k.Where(t.Context(), name); v != value || w != place {
		t.Errorf("%s is %q from %q, want %q from %q", name, v, w, value, place)
	}
}

func TestPrecedence(t *testing.T) {
	i := install(t)
	where(t, i.keys(), KeyOpenAI, "", WhereNowhere)
	i.ring.values["svc/"+KeyOpenAI] = "of-the-keyring"
	where(t, i.keys(), KeyOpenAI, "of-the-keyring", WhereKeyring)
	dotenv(t, i.paths.Data, "OPENAI_API_KEY=of-the-data-folder\n")
	where(t, i.keys(), KeyOpenAI, "of-the-data-folder", WhereDotEnv)
	dotenv(t, i.start, "# comment\nexport OPENAI_API_KEY=\"of-the-start-folder\"\nPATH=/evil\n")
	where(t, i.keys(), KeyOpenAI, "of-the-start-folder", WhereDotEnv)
	if os.Getenv("PATH") == "/evil" || os.Getenv(KeyOpenAI) != "" {
		t.Error("a .env file reached the environment")
	}
	t.Setenv(KeyOpenAI, " of-the-environment\n")
	where(t, i.keys(), KeyOpenAI, "of-the-environment", WhereEnvironment)
	where(t, i.keys(), "PATH", "", WhereNowhere)
}

// The keyring is slow, and at the start it is not asked at all.
func TestKeyringIsAskedLate(t *testing.T) {
	i := install(t)
	t.Setenv(KeyOpenAI, "of-the-environment")
	k := i.keys()
	if k.OpenAI(t.Context()); i.ring.count() != 0 {
		t.Errorf("the keyring was asked %d times for what the environment has", i.ring.count())
	}
	for range 5 {
		k.Get(t.Context(), KeyE2B)
	}
	if i.ring.count() != 1 {
		t.Errorf("the keyring was asked %d times for one key", i.ring.count())
	}
	k.Get(t.Context(), KeyModel)
	if i.ring.count() != 1 {
		t.Error("the keyring was asked for what is no secret")
	}
}

func TestPairsAreOfOneSource(t *testing.T) {
	const evil, good = "https://evil.example/v1", "https://proxy.example/v1"
	for name, c := range map[string]struct {
		prepare func(t *testing.T, i *installation)
		want    OpenAI
		ignored string
	}{
		"a project redirects the key of the environment": {
			func(t *testing.T, i *installation) {
				t.Setenv(KeyOpenAI, "users-key")
				dotenv(t, i.start, "OPENAI_BASE_URL="+evil)
			}, OpenAI{Key: "users-key"}, "ignored",
		},
		"a project redirects the key of the keyring": {
			func(t *testing.T, i *installation) {
				i.ring.values["svc/"+KeyOpenAI] = "users-key"
				dotenv(t, i.start, "OPENAI_BASE_URL="+evil)
			}, OpenAI{Key: "users-key"}, "ignored",
		},
		"a project redirects the key of the data folder": {
			func(t *testing.T, i *installation) {
				dotenv(t, i.paths.Data, "OPENAI_API_KEY=users-key")
				dotenv(t, i.start, "OPENAI_BASE_URL="+evil)
			}, OpenAI{Key: "users-key"}, "ignored",
		},
		"a project brings both": {
			func(t *testing.T, i *installation) {
				i.ring.values["svc/"+KeyOpenAI] = "users-key"
				dotenv(t, i.start, "OPENAI_API_KEY=projects-key\nOPENAI_BASE_URL="+good)
			}, OpenAI{Key: "projects-key", BaseURL: good}, "comes from",
		},
		"the settings have an address, the environment another key": {
			func(t *testing.T, i *installation) {
				if err := i.keys().Set(t.Context(), KeyOpenAIBaseURL, good); err != nil {
					t.Fatal(err)
				}
				t.Setenv(KeyOpenAI, "users-key")
			}, OpenAI{Key: "users-key"}, "ignored",
		},
		"the settings have both, one in the keyring and one in the file": {
			func(t *testing.T, i *installation) {
				i.ring.values["svc/"+KeyOpenAI] = "users-key"
				if err := i.keys().Set(t.Context(), KeyOpenAIBaseURL, good); err != nil {
					t.Fatal(err)
				}
			}, OpenAI{Key: "users-key", BaseURL: good}, "",
		},
		"the environment may redirect": {
			func(t *testing.T, i *installation) {
				i.ring.values["svc/"+KeyOpenAI] = "users-key"
				t.Setenv(KeyOpenAIBaseURL, good)
				t.Setenv(KeyOpenAIOrg, "org-1")
			}, OpenAI{Key: "users-key", BaseURL: good, Organization: "org-1"}, "",
		},
		"an address without a key": {
			func(t *testing.T, i *installation) { t.Setenv(KeyOpenAIBaseURL, good) }, OpenAI{BaseURL: good}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := install(t)
			c.prepare(t, i)
			k := i.keys()
			if got := k.OpenAI(t.Context()); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			k.OpenAI(t.Context())
			notices := k.Notices()
			if c.ignored == "" && len(notices) != 0 || c.ignored != "" && !strings.Contains(strings.Join(notices, "\n"), c.ignored) {
				t.Errorf("notices: %q", notices)
			}
			if len(notices) > 2 || strings.Contains(strings.Join(notices, ""), "users-key") {
				t.Errorf("notices: %q", notices)
			}
		})
	}
}

func TestSetAndDelete(t *testing.T) {
	i := install(t)
	k := i.keys()
	if err := k.Set(t.Context(), KeyOpenAI, " first-key-of-mine \n"); err != nil {
		t.Fatal(err)
	}
	where(t, k, KeyOpenAI, "first-key-of-mine", WhereKeyring)
	where(t, i.keys(), KeyOpenAI, "first-key-of-mine", WhereKeyring)
	if err := k.Set(t.Context(), KeyModel, "gpt-x"); err != nil {
		t.Fatal(err)
	}
	where(t, k, KeyModel, "gpt-x", WhereFile)
	path := filepath.Join(i.paths.Config, keyFileName)
	content, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(content), "first-key") {
		t.Errorf("the file: %s, %v", content, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode: %v, %v", info.Mode(), err)
	}
	if err := k.Delete(t.Context(), KeyOpenAI); err != nil {
		t.Fatal(err)
	}
	where(t, k, KeyOpenAI, "", WhereNowhere)
	if err := k.Delete(t.Context(), KeyOpenAI); err != nil {
		t.Errorf("deleting what is not there: %v", err)
	}
	if err := k.Set(t.Context(), KeyModel, ""); err != nil {
		t.Fatal(err)
	}
	where(t, k, KeyModel, "", WhereNowhere)
}

func TestWithoutKeyring(t *testing.T) {
	for name, broken := range map[string]func(*fakeRing){
		"no service":       func(r *fakeRing) { r.err = errors.New("no such bus") },
		"it hangs":         func(r *fakeRing) { r.hang = make(chan struct{}) },
		"it keeps nothing": func(r *fakeRing) { r.forget = true },
	} {
		i := install(t)
		i.ring.values["svc/"+KeyOpenAI] = "an-older-key"
		broken(i.ring)
		k := i.keys()
		begin := time.Now()
		if err := k.Set(t.Context(), KeyOpenAI, "kept-in-the-file"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		where(t, k, KeyOpenAI, "kept-in-the-file", WhereFile)
		k.Get(t.Context(), KeyE2B)
		k.Get(t.Context(), KeyDaytona)
		// It waits once, not for each key.
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
		if i.ring.hang != nil {
			close(i.ring.hang)
		}
		// The keyring is back, with an older key: the newer one counts.
		i.ring = &fakeRing{values: map[string]string{"svc/" + KeyOpenAI: "an-older-key"}}
		k = i.keys()
		where(t, k, KeyOpenAI, "kept-in-the-file", WhereFile)
		// Set again, it moves there.
		if err := k.Set(t.Context(), KeyOpenAI, "kept-in-the-ring"); err != nil {
			t.Fatal(err)
		}
		where(t, i.keys(), KeyOpenAI, "kept-in-the-ring", WhereKeyring)
		if v, err := k.file.get(KeyOpenAI); v != "" || err != nil {
			t.Errorf("%s: an old copy is left in the file: %q, %v", name, v, err)
		}
	}
}

func TestNoBusNoCall(t *testing.T) {
	i := install(t)
	k := i.keys()
	k.ring.present = hasSessionBus
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	where(t, k, KeyOpenAI, "", WhereNowhere)
	if i.ring.count() != 0 {
		t.Error("the library was called and would have started a bus")
	}
}

func TestValuesThatCantBe(t *testing.T) {
	i := install(t)
	k := i.keys()
	for name, c := range map[string]struct{ name, value string }{
		"unknown name":      {"SOMETHING", "x"},
		"a line break":      {KeyOpenAI, "one\ntwo"},
		"a space":           {KeyOpenAI, "one two"},
		"not text":          {KeyOpenAI, "bad\xff"},
		"too long":          {KeyOpenAI, strings.Repeat("x", maxValue+1)},
		"no address":        {KeyOpenAIBaseURL, "proxy.example"},
		"a dangerous one":   {KeyDaytonaURL, "file:///etc/passwd"},
		"control character": {KeyModel, "a\x00b"},
	} {
		if f := faultOf(t, withRemedy(k.Set(t.Context(), c.name, c.value))); f.Class != protocol.ClassBadInput {
			t.Errorf("%s: %+v", name, f)
		}
	}
	t.Setenv(KeyOpenAI, "of-the-environment")
	for _, err := range []error{k.Set(t.Context(), KeyOpenAI, "another"), k.Delete(t.Context(), KeyOpenAI)} {
		if f := faultOf(t, err); !strings.Contains(f.Happened, "environment") {
			t.Errorf("%+v", f)
		}
	}
}

// withRemedy lets faultOf pass a fault that says all in one sentence.
func withRemedy(err error) error {
	var f *protocol.Fault
	if errors.As(err, &f) && f.Remedy == "" {
		f.Remedy = "-"
	}
	return err
}

func TestList(t *testing.T) {
	i := install(t)
	t.Setenv(KeyE2B, "e2b-0123456789abcdef")
	dotenv(t, i.start, "OPENAI_API_KEY=short\nEXAMPLES_TEMPORAL_MODEL=gpt-x")
	k := i.keys()
	byName := map[string]protocol.KeyInfo{}
	for _, info := range k.List(t.Context(), nil) {
		byName[info.Name] = info
		if info.Label == "" || info.Secret && info.Value != "" {
			t.Errorf("%+v", info)
		}
	}
	for _, want := range []protocol.KeyInfo{
		{Name: KeyE2B, Label: "E2B key", Set: true, Where: "environment", Hint: "…cdef", Secret: true, ReadOnly: true},
		{Name: KeyOpenAI, Label: "OpenAI key", Set: true, Where: ".env", Secret: true, ReadOnly: true},
		{Name: KeyModel, Label: "Default model", Set: true, Where: ".env", Value: "gpt-x", ReadOnly: true},
		{Name: KeyDaytona, Label: "Daytona key", Secret: true},
	} {
		if byName[want.Name] != want {
			t.Errorf("%+v\nwant %+v", byName[want.Name], want)
		}
	}
	for _, n := range []string{KeyOpenAI, KeyOpenAIBaseURL, KeyE2B, KeyDaytona, KeyModel} {
		if !slices.Contains(k.SecretNames(), n) {
			t.Errorf("%s reaches sandboxes", n)
		}
	}
}

func TestRedact(t *testing.T) {
	i := install(t)
	t.Setenv(KeyE2B, "secret-of-the-environment")
	dotenv(t, i.start, "OPENAI_API_KEY=secret-of-the-env-file\nDAYTONA_API_KEY=tiny")
	k := i.keys()
	if err := i.keys().file.set(KeyDaytona, "secret-of-the-file"); err != nil {
		t.Fatal(err)
	}
	got := k.Redact("a secret-of-the-environment b secret-of-the-env-file c secret-of-the-file d tiny")
	if got != "a [secret] b [secret] c [secret] d tiny" {
		t.Errorf("%q", got)
	}
	if i.ring.count() != 0 {
		t.Error("the keyring was asked for a log line")
	}
}

func TestBadDotEnv(t *testing.T) {
	i := install(t)
	dotenv(t, i.start, "OPENAI_API_KEY=very-secret\n!! not a line\n")
	k := i.keys()
	if n := strings.Join(k.Notices(), ""); !strings.Contains(n, ".env") || strings.Contains(n, "very-secret") {
		t.Errorf("notices: %q", n)
	}
	where(t, k, KeyOpenAI, "", WhereNowhere)
	if err := os.Remove(filepath.Join(i.start, ".env")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(i.start, ".env"), 0o700); err != nil {
		t.Fatal(err)
	}
	if n := i.keys().Notices(); len(n) != 0 {
		t.Errorf("a folder of that name: %q", n)
	}
}

func TestBrokenKeyFile(t *testing.T) {
	i := install(t)
	path := filepath.Join(i.paths.Config, keyFileName)
	const broken = `{"OPENAI_API_KEY":"very-secret`
	if err := os.WriteFile(path, []byte(broken), 0o644); err != nil {
		t.Fatal(err)
	}
	k := i.keys()
	where(t, k, KeyOpenAI, "", WhereNowhere)
	kept, err := filepath.Glob(path + ".broken-*")
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept: %q, %v", kept, err)
	}
	if n := strings.Join(k.Notices(), ""); !strings.Contains(n, kept[0]) || strings.Contains(n, "very-secret") {
		t.Errorf("notices: %q", n)
	}
	content, err := os.ReadFile(kept[0])
	if info, statErr := os.Stat(kept[0]); err != nil || string(content) != broken || statErr != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("kept: %q, %v, %v", content, err, statErr)
	}
	if err := k.Set(t.Context(), KeyModel, "x"); err != nil {
		t.Fatal(err)
	}
	where(t, i.keys(), KeyModel, "x", WhereFile)
}

func TestLookUpEnds(t *testing.T) {
	i := install(t)
	i.ring.hang = make(chan struct{})
	defer close(i.ring.hang)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k := i.keys()
	if v := k.Get(ctx, KeyOpenAI); v != "" || len(k.Notices()) != 0 {
		t.Errorf("%q, %q", v, k.Notices())
	}
}
