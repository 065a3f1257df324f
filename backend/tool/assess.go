package tool

import (
	"path"
	"slices"

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
		ask.Prefixes = distinct(j.prefixes)
	}
	return ask
}

// maxPrefixes is how many prefixes a call may have: nobody reads more.
const maxPrefixes = 8

// distinct returns each prefix once, or none at all if there are too many.
func distinct(prefixes []string) []string {
	var out []string
	for _, p := range prefixes {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	if len(out) > maxPrefixes {
		return nil
	}
	return out
}

func workdirPath(root, workdir string) string {
	if path.IsAbs(workdir) {
		return path.Clean(workdir)
	}
	return path.Join(root, workdir)
}
