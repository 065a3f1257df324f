package engine

import (
	"context"
	"errors"
	"os"
)

// own starts the server. The lock is held.
func (e *Engine) own(ctx context.Context, lock *ownership, id string) (err error) {
	e.owned = e.opts.now()
	// What an earlier owner announced is no longer true; a process that comes
	// now must wait for us instead of asking there.
	if err := removeRuntime(e.paths); err != nil {
		return err
	}
	if err := e.paths.probe(); err != nil {
		return err
	}
	tok, err := ensureToken(e.paths.token())
	if err != nil {
		return storageError(e.paths.dir, "keep the engine's token", err)
	}
	acc, err := newAccess()
	if err != nil {
		return err
	}
	if e.db, e.notices, err = prepareDatabase(ctx, e.paths, e.opts.AppVersion, e.opts.now()); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = e.db.close(context.WithoutCancel(ctx))
		}
	}()
	e.server, err = startServer(ctx, serverSpec{
		database: e.paths.database(), namespace: e.opts.Namespace,
		token: tok, access: acc, log: e.log, opening: id, pick: e.opts.pick, settings: e.opts.settings,
	})
	if err != nil {
		return storageError(e.paths.dir, "start the engine", err)
	}
	defer func() {
		if err != nil {
			_ = e.server.stop()
		}
	}()
	e.file = runtimeFile{
		Format: runtimeFormat, ID: id, PID: os.Getpid(),
		AppVersion: e.opts.AppVersion, Started: e.owned,
		Frontend: address(e.server.ports.frontend), TokenFile: tokenName, Credentials: acc.frontClient,
	}
	tlsConfig, err := acc.frontClient.tlsConfig()
	if err != nil {
		return err
	}
	e.link = link{
		address: e.file.Frontend, namespace: e.opts.Namespace, tls: tlsConfig,
		token: tok, identity: e.identity(id), log: e.log,
	}
	if e.client, err = e.link.dial(ctx); err != nil {
		return err
	}
	if err = e.file.write(e.paths); err != nil {
		e.client.Close()
		return err
	}
	e.role, e.lock = RoleOwner, lock
	return nil
}

// disown stops the server and gives the lock back, in an order that leaves no
// moment in which another process could start on a database in use.
func (e *Engine) disown(ctx context.Context) error {
	return errors.Join(
		removeRuntime(e.paths),
		e.server.stop(),
		e.db.close(ctx),
		e.lock.release(),
	)
}
