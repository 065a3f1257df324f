//go:build linux

package docker_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/image"

	"temporal-sandbox-agent/sandbox"
	"temporal-sandbox-agent/sandbox/docker"
	"temporal-sandbox-agent/sandbox/docker/dockertest"
)

func digest(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

// registry serves one image, tools:1, of one layer, as registries do (API v2).
// An engine takes those of its own machine without certificates.
func registry(t *testing.T, rootfs []byte) string {
	t.Helper()
	var layer bytes.Buffer
	w := gzip.NewWriter(&layer)
	if _, err := w.Write(rootfs); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	type part struct {
		MediaType string `json:"mediaType"`
		Size      int    `json:"size"`
		Digest    string `json:"digest"`
	}
	encode := func(v any) []byte {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	type files struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	}
	config := encode(struct {
		Architecture string   `json:"architecture"`
		OS           string   `json:"os"`
		Config       struct{} `json:"config"`
		RootFS       files    `json:"rootfs"`
	}{Architecture: "amd64", OS: "linux", RootFS: files{"layers", []string{digest(rootfs)}}})
	manifest := encode(struct {
		SchemaVersion int    `json:"schemaVersion"`
		MediaType     string `json:"mediaType"`
		Config        part   `json:"config"`
		Layers        []part `json:"layers"`
	}{
		2, "application/vnd.docker.distribution.manifest.v2+json",
		part{"application/vnd.docker.container.image.v1+json", len(config), digest(config)},
		[]part{{"application/vnd.docker.image.rootfs.diff.tar.gzip", layer.Len(), digest(layer.Bytes())}},
	})
	serve := func(w http.ResponseWriter, r *http.Request, kind string, data []byte) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Docker-Content-Digest", digest(data))
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v2/":
		case "/v2/tools/manifests/1", "/v2/tools/manifests/" + digest(manifest):
			serve(w, r, "application/vnd.docker.distribution.manifest.v2+json", manifest)
		case "/v2/tools/blobs/" + digest(config):
			serve(w, r, "application/octet-stream", config)
		case "/v2/tools/blobs/" + digest(layer.Bytes()):
			serve(w, r, "application/octet-stream", layer.Bytes())
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}`)
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestPull(t *testing.T) {
	host := dockertest.Host(t)
	engine := engineOf(t, host)
	base := create(t, newProvider(t, host, nil), sandbox.Spec{Session: "base", Image: dockertest.Busybox(t, host)})
	export, err := engine.ContainerExport(t.Context(), base.Ref().ID)
	if err != nil {
		t.Fatal(err)
	}
	rootfs, err := io.ReadAll(export)
	_ = export.Close()
	if err != nil {
		t.Fatal(err)
	}
	address := registry(t, rootfs)
	name := address + "/tools:1"
	t.Cleanup(func() {
		_, _ = engine.ImageRemove(context.WithoutCancel(t.Context()), name, image.RemoveOptions{}) // it is in nobody's way
	})
	var mu sync.Mutex
	var told []docker.Progress
	p := newProvider(t, host, func(c *docker.Config) {
		c.Progress = func(progress docker.Progress) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, progress)
		}
	})
	sb := create(t, p, sandbox.Spec{Session: "pull", Image: name})
	if got := shell(t, sb, "echo works"); got != "works\n" {
		t.Errorf("got %q", got)
	}
	sofar := func() []docker.Progress {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(told)
	}
	pulled := sofar()
	for i, progress := range pulled {
		if progress.Session != "pull" || progress.Done > progress.Total || progress.Ended != (i == len(pulled)-1) {
			t.Errorf("number %d of %d: %+v", i, len(pulled), progress)
		}
	}
	if last := pulled[len(pulled)-1]; last.Total < 100_000 || last.Done != last.Total {
		t.Errorf("the last is %+v", last)
	}
	create(t, p, sandbox.Spec{Session: "again", Image: name})
	if again := sofar()[len(pulled):]; len(again) > 0 {
		t.Errorf("an image that is there is pulled again: %v", again)
	}
	_, err = p.Create(t.Context(), sandbox.Spec{Session: "none", Image: address + "/tools:2"})
	wantKind(t, "an image that the registry does not have", err, sandbox.KindNotFound)
}
