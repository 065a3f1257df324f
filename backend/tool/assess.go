package tool

import (
	"path"

	"temporal-sandbox-agent/backend/protocol"
)

// assessCommand judges a command line. It is harmless if it is made only of
// programs that are known to read, with options that are known, inside the
// workspace. Everything else is risky: what is not understood is not trusted.
//
// One thing the text of a command does not show: a link in the workspace that
// leads out of it. Reading through one is not noticed.
func assessCommand(cmd, workdir string, tty bool, env Env) protocol.Ask {
	ask := protocol.Ask{Acts: true, Title: oneLine(cmd), Detail: detail(cmd), Dir: workdirPath(env.Root, workdir)}
	if env.Confined {
		return ask
	}
	j := judgeCommand(cmd, workdir, tty, env.Root)
	ask.Reason = j.worst.text()
	ask.Risky = j.worst != harmless
	if j.trusted {
		ask.Prefixes = j.prefixes
	}
	return ask
}

func workdirPath(root, workdir string) string {
	if path.IsAbs(workdir) {
		return path.Clean(workdir)
	}
	return path.Join(root, workdir)
}
