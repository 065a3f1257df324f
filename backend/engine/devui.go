package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/temporalio/ui-server/v2/server/api"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/route"
	"github.com/temporalio/ui-server/v2/ui"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
)

// devUI is the Temporal Web UI. Its own server is not used: that one listens
// on a port without a password and ends the process when the port is taken. We
// serve its pages and its API from a listener of ours, behind uiGate.
type devUI struct {
	base string
	gate *uiGate
	http *http.Server
	conn *grpc.ClientConn
	// served is closed when the listener is done.
	served chan struct{}
}

// StartDevUI starts the Temporal Web UI unless it runs, and returns an address
// that opens it once, within ticketLife, in any browser of this machine. Close
// stops it.
func (e *Engine) StartDevUI(ctx context.Context) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return "", ErrClosed
	}
	if e.ui == nil {
		u, err := e.newDevUI(ctx)
		if err != nil {
			return "", fmt.Errorf("start the Temporal Web UI: %w", err)
		}
		e.ui = u
	}
	ticket, err := e.ui.gate.issue()
	if err != nil {
		return "", err
	}
	return e.ui.base + openPath + "?ticket=" + ticket, nil
}

func (e *Engine) newDevUI(ctx context.Context) (*devUI, error) {
	conn, err := e.link.raw()
	if err != nil {
		return nil, err
	}
	pages, err := uiPages(conn, e.link.namespace)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	l, err := listenUI(ctx)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	gate := newUIGate(l.Addr().String(), pages)
	u := &devUI{
		base: "http://" + l.Addr().String(), gate: gate, conn: conn, served: make(chan struct{}),
		http: &http.Server{
			Handler:           gate,
			ReadHeaderTimeout: 10 * time.Second,
			ErrorLog:          log.New(io.Discard, "", 0), // a broken browser connection is no news
		},
	}
	go func() {
		defer close(u.served)
		if err := u.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			e.log.Error("the Temporal Web UI stopped", "error", err)
		}
	}()
	return u, nil
}

// listenUI listens on a loopback address that nobody else uses, where the
// system has more than one (Linux does): browsers send a cookie to every port
// of an address, so that on 127.0.0.1 other local servers would be shown ours.
func listenUI(ctx context.Context) (net.Listener, error) {
	var b [3]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, err
	}
	own := net.IPv4(127, 1+b[0]%254, b[1], 1+b[2]%254)
	if l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(own.String(), "0")); err == nil {
		return l, nil
	}
	return (&net.ListenConfig{}).Listen(ctx, "tcp", address(0))
}

// close stops the UI at once: its requests only read or are done in no time.
func (u *devUI) close() error {
	err := u.http.Close()
	<-u.served
	if cerr := u.conn.Close(); err == nil {
		err = cerr
	}
	return err
}

// uiPages is the Temporal Web UI as a handler. The connection carries the
// token and our certificate, so the handler has all rights on the engine: it
// must only be reached through uiGate.
func uiPages(conn *grpc.ClientConn, namespace string) (http.Handler, error) {
	provider, err := uiconfig.NewConfigProviderWithRefresh(&uiconfig.Config{
		EnableUI:         true,
		DefaultNamespace: namespace,
		DisableNewsFetch: true, // it would call out to the network
		HideLogs:         true,
	})
	if err != nil {
		return nil, err
	}
	all, err := ui.Assets()
	if err != nil {
		return nil, fmt.Errorf("read the pages: %w", err)
	}
	assets, err := fs.Sub(all, "local")
	if err != nil {
		return nil, fmt.Errorf("read the pages: %w", err)
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Logger.SetOutput(io.Discard)
	e.Use(middleware.Recover(), middleware.Secure())
	g := e.Group("/api/v1")
	g.GET("/settings", api.GetSettings(provider))
	g.GET(api.WorkflowRawHistoryUrl, api.WorkflowRawHistoryHandler(workflowservice.NewWorkflowServiceClient(conn)))
	g.Any("/*", api.TemporalAPIHandler(provider, nil, conn))
	if err := route.SetUIRoutes(e, "", assets); err != nil {
		return nil, fmt.Errorf("serve the pages: %w", err)
	}
	route.SetRenderRoute(e, "")
	return e, nil
}
