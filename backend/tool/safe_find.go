package tool

import "strings"

// findTests are the parts of find's expressions that only look. A value of true
// says that the next argument belongs to it.
func findTests(name string) (takes, ok bool) {
	switch name {
	case "-print", "-print0", "-ls", "-prune", "-not", "-o", "-a", "-and", "-or", "!", "(", ")", "-empty", "-depth", "-xdev",
		"-mount", "-follow", "-true", "-false", "-quit", "-executable", "-readable", "-writable", "-daystart", "-noleaf",
		"-warn", "-nowarn", "-nouser", "-nogroup", "-H", "-L", "-P", ",":
		return false, true
	case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-regextype", "-lname",
		"-ilname", "-type", "-xtype", "-size", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-maxdepth",
		"-mindepth", "-perm", "-user", "-group", "-uid", "-gid", "-links", "-inum", "-printf", "-fstype", "-used":
		return true, true
	}
	return false, false
}

// judgeFind allows find with tests that only look. An argument that is not
// known could be "-delete", and so could a file name that a glob stands for.
func judgeFind(c command) reason {
	worst := harmless
	expression := false
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		if a.wild || (!a.known && !a.file) {
			return max(unclear, findRisk(c.args))
		}
		if !expression && (a.file || !strings.HasPrefix(a.text, "-") && a.text != "(" && a.text != "!") {
			worst = max(worst, c.j.inside(a))
			continue
		}
		if a.glob {
			return unclear
		}
		if a.text != "-H" && a.text != "-L" && a.text != "-P" {
			expression = true
		}
		if strings.HasPrefix(a.text, "-newer") || a.text == "-samefile" {
			if i++; i < len(c.args) {
				worst = max(worst, c.j.inside(c.args[i]))
			}
			continue
		}
		takes, ok := findTests(a.text)
		if !ok {
			return findRisk(c.args)
		}
		if takes {
			i++
			if i < len(c.args) && (!c.args[i].known || c.args[i].splits || c.args[i].wild) {
				return unclear
			}
		}
	}
	return worst
}

// findRisk says what a find (or fd) with other parts does.
func findRisk(args []word) reason {
	worst := runsProgram
	for i, a := range args {
		switch a.text {
		case "-delete":
			worst = max(worst, deletesFiles)
		case "-fprint", "-fprint0", "-fprintf", "-fls":
			worst = max(worst, changesFiles)
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			if i+1 < len(args) && args[i+1].known {
				worst = max(worst, riskOf(args[i+1].text, args[i+2:]))
			}
		}
	}
	return worst
}
