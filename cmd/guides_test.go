//go:build unix

package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
)

// topicShell defines shell functions that let bash run the commands in the guides unchanged. serve runs in the
// background, as in a second terminal, and is stopped when the script ends. A command with --ask gets the passphrase.
const topicShell = `set -euo pipefail
deedkeep() {
	if [[ ${!#} == --ask ]]; then command deedkeep "$@" <"$DEEDKEEP_DATA/passphrase"; return; fi
	if [[ ${1-} == service ]]; then managed "$@"; return; fi
	if [[ ${1-} != serve ]]; then command deedkeep "$@"; return; fi
	command deedkeep "$@" >serve.out 2>serve.err & server=$!
	for _ in $(seq 600); do grep -q '^listening on ' serve.out && return; kill -0 $server || break; sleep 0.05; done
	cat serve.err >&2; return 1
}
down() { kill -TERM $server; wait $server || return; server=; }
trap 'if [[ -n ${server-} ]]; then kill -TERM $server 2>/dev/null || true; wait $server || true; fi' EXIT
`

// topicHost replaces commands that need root or systemd. It creates no accounts and runs the server in this shell
// instead of a service. guides_root_test.go tests the real commands.
const topicHost = `useradd() { :; }
chown() { :; }
managed() { systemctl "${2/install/enable}" deedkeep; }
systemctl() {
	case $1 in
	daemon-reload) ;;
	start | enable) deedkeep serve --existing ;;
	stop) down ;;
	restart) down && deedkeep serve --existing ;;
	*) return 1 ;;
	esac
}
`

// installedGuides are the guides that assume an installed and running server.
var installedGuides = []string{
	"api", "backups", "customize", "example", "leaving", "monitoring", "proxy", "search", "security", "troubleshooting", "upgrade",
}

// pageGuides are the guides without sh blocks: about pages, terms, and tests of the repository.
var pageGuides = []string{"working", "titlework", "glossary", "owner", "performance"}

// topicScript returns the sh blocks in a guide as one script, and their number. A block marked "sh down" first stops
// the server.
func topicScript(text string) (script string, blocks int) {
	var b strings.Builder
	inBlock := false
	for line := range strings.Lines(text) {
		switch fence, ok := strings.CutPrefix(strings.TrimSpace(line), "```"); {
		case ok && inBlock:
			inBlock = false
		case ok && (fence == "sh" || fence == "sh down"):
			inBlock, blocks = true, blocks+1
			if fence == "sh down" {
				b.WriteString("down\n")
			}
		case inBlock:
			b.WriteString(line)
		}
	}
	return b.String(), blocks
}

// All commands in the guides work in sequence with a real server. The test uses different directories and a different
// port.
func TestGuideCommands(t *testing.T) {
	names := topicNames()
	if len(names) != len(installedGuides)+len(pageGuides)+1 {
		t.Fatalf("got guides %v, want those that run after the guide install, those about pages, and install", names)
	}
	for _, name := range names {
		if slices.Contains(pageGuides, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := helpTopic(name)
			if err != nil {
				t.Fatalf("read guide: %v", err)
			}
			script, blocks := topicScript(text)
			// The guide "search" is about pages; "proxy" and "monitoring" are about configuring other software.
			few := []string{"example", "search", "proxy", "monitoring", "troubleshooting"}
			if blocks < 3 && !slices.Contains(few, name) || blocks < 1 {
				t.Fatalf("got %d sh blocks, want at least 3 (1 in %v)", blocks, few)
			}
			dir := runGuide(t, name, script)
			if name == "backups" {
				checkEncrypted(t, filepath.Join(dir, "mnt", "cloud", "deedkeep"))
			}
		})
	}
}

// checkEncrypted checks that a directory contains backups and that none of their files contain the text of the vault's
// document.
func checkEncrypted(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte("the seeded document")) {
			t.Errorf("%s contains the text of the document, want it encrypted", path)
		}
		return err
	})
	if err != nil || files < 6 {
		t.Errorf("got %d files in %s, %v, want at least 6", files, dir, err)
	}
}

// runGuide runs the script of a guide in a directory that contains a few documents, and returns that directory. Except
// for the guide "install", /srv/deedkeep is a vault with a key, an order, and a document.
func runGuide(t *testing.T, name, script string) (dir string) {
	t.Helper()
	root := filepath.Dir(shortDataDir(t))
	dir = t.TempDir()
	data := filepath.Join(root, "deedkeep")
	setup := ""
	if name != "install" {
		if _, err := seedVault(data); err != nil {
			t.Fatalf("create vault: %v", err)
		}
	}
	if slices.Contains(installedGuides, name) {
		setup = "export DEEDKEEP_DATA=" + data + "\nsystemctl start deedkeep\n"
		settings := fmt.Sprintf("time_zone: America/New_York\nbackup:\n  to: %s\n", filepath.Join(dir, "mnt", "nas", "deedkeep"))
		err := os.WriteFile(filepath.Join(data, "config.yaml"), []byte(settings), 0o600)
		err = errors.Join(err, os.WriteFile(filepath.Join(data, "passphrase"), []byte("a passphrase"), 0o600))
		if err := errors.Join(err, os.MkdirAll(filepath.Join(dir, "mnt", "nas"), 0o700)); err != nil {
			t.Fatalf("write file and create directory: %v", err)
		}
		if slices.Contains([]string{"customize", "troubleshooting"}, name) {
			setup += "deedkeep backup create\n" // doctor fails without one
		}
	}
	copyDocuments(t, dir)
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "systemd", "system"), 0o700), installPrograms(dir)); err != nil {
		t.Fatalf("install programs: %v", err)
	}
	address := freeAddress(t)
	script = strings.NewReplacer("/srv/", root+"/", "/mnt/", filepath.Join(dir, "mnt")+"/", "/etc/systemd/",
		filepath.Join(dir, "systemd")+"/", "/usr/local/bin/", filepath.Join(dir, "bin")+"/", "127.0.0.1:8080", address).Replace(script)
	cmd := exec.CommandContext(t.Context(), "bash")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(topicShell+topicHost+setup+"set -v\n"+script)
	cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":"+filepath.Join(dir, "bin"), "DEEDKEEP_LISTEN="+address,
		"DEEDKEEP_READER_CACHE="+vaulttest.CacheDir(), "GORACE="+raceOptions)
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("run guide: %v\n%s", err, out)
	}
	if testing.Verbose() {
		fmt.Printf("%s\n", out)
	}
	return dir
}

// installPrograms writes a new deedkeep binary to dir and an installed one to dir/bin.
func installPrograms(dir string) error {
	const script = "#!/bin/sh\nexec deedkeep \"$@\"\n"
	return errors.Join(os.Mkdir(filepath.Join(dir, "bin"), 0o700),
		os.WriteFile(filepath.Join(dir, "bin", "deedkeep"), []byte(script), 0o700), // #nosec G306 -- an executable
		os.WriteFile(filepath.Join(dir, "deedkeep"), []byte(script), 0o700))        // #nosec G306 -- an executable
}

// copyDocuments copies the documents that the guides refer to into dir.
func copyDocuments(t *testing.T, dir string) {
	t.Helper()
	for from, to := range map[string]string{
		"title/warranty-deed-scan-100dpi.pdf": "deed.pdf", "title/warranty-deed-g4-300dpi.tiff": "plat.tiff",
		"title/open-end-mortgage.pdf": "closed-files/2019/Mortgage.pdf",
	} {
		content, err := os.ReadFile(sampleFile(t, from))
		to = filepath.Join(dir, filepath.FromSlash(to))
		if err = errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, content, 0o600)); err != nil {
			t.Fatalf("copy document: %v", err)
		}
	}
}

// sampleFile returns the path of a sample document.
func sampleFile(t *testing.T, path string) string {
	t.Helper()
	for _, s := range vaulttest.Samples(t) {
		if s.Path == path {
			return s.File
		}
	}
	t.Fatalf("the sample manifest has no %s", path)
	return ""
}

// generated matches the headings of the generated examples in the API guide.
var generated = regexp.MustCompile(`^(?:GET|POST|PUT|PATCH|DELETE|HEAD) /`)

// All guides have a title, balanced code fences, and lines of at most 90 characters outside code and tables, and the help
// command prints them, also under their earlier names.
func TestGuideText(t *testing.T) {
	for _, name := range topicNames() {
		text, err := helpTopic(name)
		if err != nil || !strings.HasPrefix(text, "# ") || !strings.HasSuffix(text, "\n") || strings.Count(text, "```")%2 != 0 {
			t.Errorf("guide %s: got %v, want a title, a final newline, and an even number of code fences", name, err)
		}
		inBlock := false
		for n, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "```") {
				inBlock = !inBlock
			}
			if length := len([]rune(line)); length > 90 && !inBlock && !strings.HasPrefix(line, "|") && !generated.MatchString(line) {
				t.Errorf("guide %s, line %d: got %d characters, want at most 90", name, n+1, length)
			}
		}
	}
	for topic, title := range map[string]string{
		"backups": "# Backups", "installing": "# Install deedkeep", "integrating": "# API guide", "searching": "# Search guide", "upgrading": "# Upgrade deedkeep",
	} {
		if got := runCLI(t.Context(), t, nil, "help", topic); got.code != 0 || !strings.HasPrefix(got.out, title+"\n") {
			t.Errorf("help %s: got %+v, want the guide %q", topic, got, title)
		}
	}
	got := runCLI(t.Context(), t, nil, "help", "keys", "create")
	if got.code != 0 || !strings.Contains(got.out, "deedkeep keys create NAME [flags]") {
		t.Errorf("help keys create: got %+v, want its usage", got)
	}
	got = runCLI(t.Context(), t, nil, "help", "backing")
	const list = "guides: working, titlework, search, glossary, owner, leaving, install, example, customize, security, proxy, backups, " +
		"monitoring, troubleshooting, upgrade, performance, api"
	if got.code != exitUsage || !strings.Contains(got.messages, list) {
		t.Errorf("help backing: got %+v, want exit code %d and the list of guides", got, exitUsage)
	}
}
