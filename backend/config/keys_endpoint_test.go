package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"temporal-sandbox-agent/backend/protocol"
)

func TestEndpointKeys(t *testing.T) {
	i := install(t)
	k := i.keys()
	own := protocol.Endpoint{Name: "own @ work", URL: "https://Gateway.example:8443/v1"}
	other := protocol.Endpoint{Name: "other", URL: "http://localhost:1/v1"}
	const secret = "key-of-the-gateway"
	if err := k.Set(t.Context(), EndpointKey(own), secret); err != nil {
		t.Fatal(err)
	}
	where(t, i.keys(), EndpointKey(own), secret, WhereKeyring)
	infos := k.List(t.Context(), []protocol.Endpoint{other, own})
	want := []protocol.KeyInfo{
		{Name: EndpointKey(other), Label: "Key of other", Secret: true, Endpoint: "other"},
		{Name: EndpointKey(own), Label: "Key of own @ work", Secret: true, Endpoint: "own @ work", Set: true, Where: "keyring", Hint: "…eway"},
	}
	if got := infos[len(infos)-2:]; !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	// Another server under the same name never gets it; another path on the
	// same server does.
	moved, elsewhere := own, own
	moved.URL, elsewhere.URL = "https://gateway.example:8443/v2", "https://gateway.example/v1"
	where(t, k, EndpointKey(moved), secret, WhereKeyring)
	where(t, k, EndpointKey(elsewhere), "", WhereNowhere)
	if got := k.Redact("it said " + secret); got != "it said [secret]" {
		t.Errorf("%q", got)
	}

	i.ring.err = errors.New("locked")
	k = i.keys()
	if err := k.Set(t.Context(), EndpointKey(other), "key-in-the-file"); err != nil {
		t.Fatal(err)
	}
	where(t, i.keys(), EndpointKey(other), "key-in-the-file", WhereFile)
	if info, err := os.Stat(filepath.Join(i.paths.Config, keyFileName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if got := i.keys().Redact("key-in-the-file"); got != "[secret]" {
		t.Errorf("%q", got)
	}
	if err := k.Delete(t.Context(), EndpointKey(other)); err != nil {
		t.Fatal(err)
	}
	where(t, i.keys(), EndpointKey(other), "", WhereNowhere)
	for _, n := range []string{"endpoint:", "endpoint:name", "endpoint:@http://x"} {
		if err := k.Set(t.Context(), n, "value"); err == nil {
			t.Errorf("%s was kept", n)
		}
	}
}
