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

// A machine for the guides: root has namespaces of its own, with other folders, another
// account database, and another network, so that every path and port stands as it is
// written. Root's umask is the strictest there is: what root creates for the service must
// be given to it.
const guideMachine = `umask 022
ip link set lo up
mount -t tmpfs guide /srv
mount -t tmpfs guide /mnt
mkdir /mnt/bin /mnt/etc /mnt/nas /mnt/cloud
cp -a /etc/. /mnt/etc
mkdir -p /mnt/etc/systemd/system
mount --bind /mnt/etc /etc
mkdir /mnt/test
install -m 755 "$PROGRAM" /mnt/test/deedkeep # which works under this name alone
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
service() { # what systemd makes of these lines of the unit
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
newest() { # of the place in the settings
	find "$(sed -n 's/^  to: //p' /srv/deedkeep/config.yaml)/snapshots" -name '*.manifest' | sort | tail -n 1
}
`

// What must be true after the guides: the service makes a planned backup, and nothing
// in its directories belongs to another account.
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

// The guides followed to the letter, one after the other, as root: the server runs as
// the unit says and makes its planned backup.
func TestGuidesAsRoot(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("find executable: %v", err)
	}
	room := t.TempDir()
	copyDocuments(t, room)
	checked := []string{"installing", "security"} // the first, and the last of all
	var script strings.Builder
	script.WriteString(guideMachine)
	for _, name := range []string{"installing", "backups", "upgrading", "security"} {
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
	cmd := exec.CommandContext(ctx, "unshare", "--mount", "--propagation", "private", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "bash")
	cmd.Dir, cmd.Stdin = room, strings.NewReader(script.String())
	cmd.Env = append(os.Environ(), "PROGRAM="+self, "ENGINES="+vaulttest.CacheDir(), "DEEDKEEP_READER_DEADLINE=2m")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	t.Logf("user %v, system %v", cmd.ProcessState.UserTime(), cmd.ProcessState.SystemTime())
	if testing.Verbose() {
		fmt.Printf("%s\n", &out)
	}
	for _, said := range strings.Split(out.String(), "GUIDE ")[1:] {
		name, _, _ := strings.Cut(said, "\n")
		if !slices.Contains(checked, name) {
			continue
		}
		if !strings.Contains(said, "\nPLANNED\n") {
			t.Errorf("%s: got no planned backup of the service\n%s", name, said)
		}
		if foreign := regexp.MustCompile(`(?m)^FOREIGN (.*)$`).FindStringSubmatch(said); len(foreign) != 2 || strings.TrimSpace(foreign[1]) != "" {
			t.Errorf("%s: got files of another account %q, want none", name, foreign)
		}
	}
}

// The unit of the guide is one that systemd takes, and rates below 2.0 of 10.
func TestGuideUnit(t *testing.T) {
	text, err := helpTopic("installing")
	if err != nil {
		t.Fatalf("read help topic: %v", err)
	}
	_, unit, found := strings.Cut(text, "cat > /etc/systemd/system/deedkeep.service <<'END'\n")
	unit, _, closed := strings.Cut(unit, "\nEND\n")
	if !found || !closed {
		t.Fatal("the guide has no unit")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("find executable: %v", err)
	}
	file := filepath.Join(t.TempDir(), "deedkeep.service")
	here := strings.Replace(unit, "/usr/local/bin/deedkeep", self, 1)
	if err := os.WriteFile(file, []byte(here+"\n"), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	verify, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", file).CombinedOutput()
	if err != nil || len(bytes.TrimSpace(verify)) > 0 {
		t.Errorf("verify: got %v and %q, want nothing", err, verify)
	}
	rating, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true", "--no-pager", file).CombinedOutput()
	level := regexp.MustCompile(`Overall exposure level for deedkeep.service: (\d+\.\d+)`).FindSubmatch(rating)
	if err != nil || level == nil {
		t.Fatalf("security: %v\n%s", err, rating)
	}
	if score, err := strconv.ParseFloat(string(level[1]), 64); err != nil || score >= 2 {
		t.Errorf("got an exposure of %s, want less than 2.0\n%s", level[1], rating)
	}
	for _, want := range []string{"serve --existing", "Restart=on-failure", "RequiresMountsFor=/srv/deedkeep", "landlock_restrict_self", " seccomp"} {
		if !strings.Contains(unit, want) {
			t.Errorf("the unit lacks %q", want)
		}
	}
	if strings.Contains(unit, "MemoryDenyWriteExecute") {
		t.Error("got MemoryDenyWriteExecute: the PDF engine is compiled when it runs")
	}
}
