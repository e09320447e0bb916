//go:build root && linux

package cmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
)

// guideMachine is a script that sets up the environment for the guides. It uses namespaces
// with separate directories, accounts, and networking, so the commands can use the paths and
// ports in the guides. Root has a strict umask, so the service can use files created by root
// only if the guide changes their owner.
const guideMachine = `umask 022
ip link set lo up
mount -t tmpfs guide /srv
mount -t tmpfs guide /mnt
mkdir /mnt/bin /mnt/etc /mnt/nas /mnt/cloud
cp -a /etc/. /mnt/etc
mkdir -p /mnt/etc/systemd/system
mount --bind /mnt/etc /etc
mkdir /mnt/test
install -m 755 "$PROGRAM" /mnt/test/deedkeep # the test binary is deedkeep only under this name
printf '#!/bin/sh\nexec /mnt/test/deedkeep "$@"\n' >deedkeep
install -m 755 deedkeep /mnt/bin/deedkeep
mount --bind /mnt/bin /usr/local/bin
if [[ -d $ENGINES ]]; then cp -r "$ENGINES" /mnt/engines; else mkdir /mnt/engines; fi
chmod -R a+rwX /mnt/engines
export DEEDKEEP_READER_CACHE=/mnt/engines PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 077
` + topicShell + `
systemctl() {
	case $1 in
	daemon-reload) ;;
	start | enable) service ;;
	stop) down ;;
	restart) down && service ;;
	*) return 1 ;;
	esac
}
line() { sed -n "s/^$1=//p" /etc/systemd/system/deedkeep.service; }
service() { # does what systemd would do for these lines of the unit
	local account writable
	account=$(line User)
	writable=$(find /etc/systemd/system/deedkeep.service* -type f -exec sed -n 's/^ReadWritePaths=//p' {} +)
	: >serve.out
	unshare --mount --propagation private bash -euc '
		for path in $1; do
			if [[ -e ${path#-} || $path != -* ]]; then mount --bind "${path#-}" "${path#-}"; fi
		done
		for path in / /etc /srv /mnt; do mount -o remount,bind,ro "$path"; done
		umask "$2"
		exec setpriv --reuid "$3" --regid "$3" --init-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
			env -i PATH=/usr/bin:/bin DEEDKEEP_READER_CACHE=/mnt/engines $4 $5
	' - "$writable" "$(line UMask)" "$account" "$(line Environment) ${plan-}" "$(line ExecStart)" >serve.out 2>>serve.err & server=$!
	for _ in $(seq 600); do grep -q '^listening on ' serve.out && return; kill -0 $server || break; sleep 0.05; done
	cat serve.err >&2; return 1
}
newest() { # prints the newest snapshot in the backup directory of the settings
	find "$(sed -n 's/^  to: //p' /srv/deedkeep/config.yaml)/snapshots" -name '*.manifest' | sort | tail -n 1
}
`

// guideCheck is a script that checks the result of a guide: the service must create a
// scheduled backup, and all files in its directories must belong to it.
const guideCheck = `
before=$(newest)
plan=DEEDKEEP_BACKUP_EVERY=1s systemctl restart deedkeep
for _ in $(seq 600); do
	after=$(newest)
	if [[ $after > $before ]]; then break; fi
	sleep 0.05
done
if [[ $after > $before ]]; then echo PLANNED; else cat serve.err; fi
printf 'FOREIGN %s\n' "$(find /srv/deedkeep /mnt/nas/deedkeep /mnt/cloud ! -path /mnt/cloud ! -user deedkeep | tr '\n' ' ')"
systemctl restart deedkeep
`

// The commands in the guides work if root runs them one after another. The server runs with
// the systemd unit from the guide and creates its scheduled backup.
func TestGuidesAsRoot(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("find executable: %v", err)
	}
	dir := t.TempDir()
	copyDocuments(t, dir)
	checked := []string{"install", "security"} // the first and the last guide
	var script strings.Builder
	script.WriteString(guideMachine)
	for _, name := range []string{"install", "backups", "upgrade", "security"} {
		text, err := helpTopic(name)
		if err != nil {
			t.Fatalf("read help topic: %v", err)
		}
		blocks, _ := topicScript(text)
		fmt.Fprintf(&script, "printf 'GUIDE %s\\n'\nset -v\n%s\nset +v\nrm -rf /srv/restored /srv/decrypted\n", name, blocks)
		if slices.Contains(checked, name) {
			script.WriteString(guideCheck)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx,
		"unshare", "--mount", "--propagation", "private", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "bash")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(script.String())
	cmd.Env = append(os.Environ(), "PROGRAM="+self, "ENGINES="+vaulttest.CacheDir(), "DEEDKEEP_READER_DEADLINE=2m")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("run guides: %v\n%s", err, &out)
	}
	t.Logf("user %v, system %v", cmd.ProcessState.UserTime(), cmd.ProcessState.SystemTime())
	if testing.Verbose() {
		fmt.Printf("%s\n", &out)
	}
	for _, output := range strings.Split(out.String(), "GUIDE ")[1:] {
		name, _, _ := strings.Cut(output, "\n")
		if !slices.Contains(checked, name) {
			continue
		}
		if !strings.Contains(output, "\nPLANNED\n") {
			t.Errorf("%s: got no scheduled backup, want one\n%s", name, output)
		}
		foreign := regexp.MustCompile(`(?m)^FOREIGN (.*)$`).FindStringSubmatch(output)
		if len(foreign) != 2 || strings.TrimSpace(foreign[1]) != "" {
			t.Errorf("%s: got files of another account %q, want none", name, foreign)
		}
	}
}

// systemd accepts the unit file in the guide and rates its exposure level below 2.0 (of 10).
func TestGuideUnit(t *testing.T) {
	text, err := helpTopic("install")
	if err != nil {
		t.Fatalf("read help topic: %v", err)
	}
	_, unit, found := strings.Cut(text, "cat > /etc/systemd/system/deedkeep.service <<'END'\n")
	unit, _, closed := strings.Cut(unit, "\nEND\n")
	if !found || !closed {
		t.Fatal("guide: got no unit, want one in a block that ends with END")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("find executable: %v", err)
	}
	file := filepath.Join(t.TempDir(), "deedkeep.service")
	content := strings.Replace(unit, "/usr/local/bin/deedkeep", self, 1) + "\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatalf("write unit: %v", err)
	}
	verify, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", file).CombinedOutput()
	if err != nil || len(bytes.TrimSpace(verify)) > 0 {
		t.Errorf("verify: got %v and %q, want nothing", err, verify)
	}
	rate := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true", "--no-pager", file)
	rating, err := rate.CombinedOutput()
	level := regexp.MustCompile(`Overall exposure level for deedkeep.service: (\d+\.\d+)`).FindSubmatch(rating)
	if err != nil || level == nil {
		t.Fatalf("security: got %v, want a rating in\n%s", err, rating)
	}
	if score, err := strconv.ParseFloat(string(level[1]), 64); err != nil || score >= 2 {
		t.Errorf("got an exposure of %s, want less than 2.0\n%s", level[1], rating)
	}
	for _, want := range []string{"serve --existing", "Restart=on-failure", "RequiresMountsFor=/srv/deedkeep",
		"landlock_restrict_self", " seccomp"} {
		if !strings.Contains(unit, want) {
			t.Errorf("unit: got no %q, want it", want)
		}
	}
	if strings.Contains(unit, "MemoryDenyWriteExecute") {
		t.Error("unit: got MemoryDenyWriteExecute, want it absent: the server compiles the PDF engine at run time")
	}
}
