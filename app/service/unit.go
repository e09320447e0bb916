package service

import (
	_ "embed"
	"slices"
	"strings"
)

// packagedUnit is the unit in the packages of Linux. Units that Install writes differ only in the
// account, the program, and the directories.
//
//go:embed deedkeep.service
var packagedUnit string

const (
	unitMark   = `# Written by "deedkeep service install", which replaces changes. To change it: systemctl edit `
	packageCmd = "/usr/bin/deedkeep serve"
	stateDir   = "/var/lib/deedkeep"
)

// homes are the directories that ProtectHome hides.
var homes = []string{"/home", "/root", "/run/user"}

// isBelow reports whether path is one of dirs or below one.
func isBelow(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") })
}

// unitText returns the unit of a service. It keeps the sandbox of the packaged one. Paths in a home
// directory are mounted alone into an empty one.
func unitText(name string, o Options) string {
	command := make([]string, 0, 6)
	for _, arg := range append([]string{o.Program}, o.arguments()...) {
		command = append(command, strings.ReplaceAll(quoteUnit(arg), "$", "$$"))
	}
	writable := []string{"-/media", "-/mnt", "-/srv"}
	for _, dir := range o.Writable {
		if !isBelow(dir, []string{o.Data, "/media", "/mnt", "/srv"}) {
			writable = append(writable, quoteUnit("-"+dir))
		}
	}
	replace := []string{"User=" + DefaultName + "\n", "User=" + o.User + "\n", "ExecStart=" + packageCmd + "\n",
		"ExecStart=" + strings.Join(command, " ") + "\n"}
	if o.Data != stateDir {
		writable = append(writable, quoteUnit(o.Data))
		replace = append(replace, "StateDirectory=deedkeep\nStateDirectoryMode=0700\n", "",
			"RequiresMountsFor="+stateDir+"\n", "RequiresMountsFor="+quoteUnit(o.Data)+"\n")
	}
	replace = append(replace, "ReadWritePaths=-/media -/mnt -/srv\n", "ReadWritePaths="+strings.Join(writable, " ")+"\n")
	home := ""
	if isBelow(o.Data, homes) {
		home += "BindPaths=" + quoteUnit(o.Data) + "\n"
	}
	for _, path := range []string{o.Program, o.Config} {
		if isBelow(path, homes) && !isBelow(path, []string{o.Data}) {
			home += "BindReadOnlyPaths=" + quoteUnit(path) + "\n"
		}
	}
	if home != "" {
		replace = append(replace, "ProtectHome=yes\n", "ProtectHome=tmpfs\n"+home)
	}
	return unitMark + name + "\n" + strings.NewReplacer(replace...).Replace(packagedUnit)
}

// plainInUnit are the characters that have no meaning in a unit.
const plainInUnit = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@=,~"

// quoteUnit returns a text as one word of a unit, without specifiers.
func quoteUnit(text string) string {
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !strings.ContainsRune(plainInUnit, r) }) {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(text) + `"`
}

// readUnit returns what a unit says. Its command line is one that unitText writes.
func readUnit(text string) (s State) {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimRight(line, "\n"), "=")
		switch key {
		case "User":
			s.Account = value
		case "ExecStart":
			s.readArguments(splitUnit(value))
		}
	}
	return s
}

// splitUnit returns the words of a line that quoteUnit wrote.
func splitUnit(line string) (words []string) {
	var word strings.Builder
	quoted, started := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			quoted, started = !quoted, true
		case c == ' ' && !quoted:
			if started {
				words = append(words, word.String())
			}
			word.Reset()
			started = false
		case strings.IndexByte(`\%$`, c) >= 0 && i+1 < len(line):
			i++ // each of them is doubled, or a backslash precedes a quotation mark
			word.WriteByte(line[i])
		default:
			word.WriteByte(c)
			started = true
		}
	}
	if started {
		words = append(words, word.String())
	}
	return words
}
