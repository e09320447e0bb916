//go:build root && linux

package cmd

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
)

// proxyCheck is a script that sends requests through a proxy. The client's IP address differs
// from that of the proxy.
const proxyCheck = `
ask() { curl -sS --interface 192.0.2.10 --cacert "$CA" "$@"; }
for _ in $(seq 600); do ask -o health https://vault.example.com/healthz 2>/dev/null && break; sleep 0.05; done
cat health
printf '\nREDIRECT '
ask -o /dev/null -w '%{http_code} %{redirect_url}\n' http://vault.example.com/orders?q=a%20b
for path in /v1/orders /v1 //v1/orders /api/v1/orders; do
	printf 'PLAIN %s ' $path
	ask -o /dev/null -w '%{http_code} %{redirect_url}\n' --path-as-is -H 'Authorization: Bearer x' "http://vault.example.com$path"
done
printf 'PROTOCOL '
ask -o /dev/null -w '%{http_version}\n' https://vault.example.com/healthz
for size in 2 60; do
	printf 'UPLOAD %s ' $size
	ask -H "Authorization: Bearer $KEY" -F "files[]=@scan$size.tiff" -o upload.json -w '%{http_code} ' \
		https://vault.example.com/v1/file-vault/upload
	link=$(grep -o '"download_url":"[^"]*"' upload.json | cut -d'"' -f4)
	ask -L -H "Authorization: Bearer $KEY" "$link" -o back.tiff
	cmp scan$size.tiff back.tiff
	echo "${link%/v1/*}"
done
printf 'COOKIE '
ask -o /dev/null -D - --data-urlencode name=owner --data-urlencode 'password@password' https://vault.example.com/sign-in |
	tr -d '\r' | grep -i '^set-cookie'
printf 'ADDRESSES '
deedkeep events list --limit 20 --json | grep -oE '"(kind|address)": *"[^"]*"' | tr -d ' \n'
printf '\n'
SSL_CERT_FILE=$CA deedkeep doctor --through https://vault.example.com --key "$KEY" | sed 's/^/DOCTOR /' || true # there is no backup
`

// The configurations in the guide work unchanged with Debian's nginx and Caddy packages, on ports
// 80 and 443 in a separate network namespace.
func TestProxyConfigurations(t *testing.T) {
	guide, err := helpTopic("proxy")
	if err != nil {
		t.Fatalf("read guide: %v", err)
	}
	dir := t.TempDir()
	tiff, err := os.ReadFile(sampleFile(t, "title/warranty-deed-g4-300dpi.tiff"))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	blocks, _ := topicScript(guide)
	cert, key := proxyCertificate(t)
	for name, content := range map[string][]byte{
		"vault.pem": cert, "vault.key": key, "password": []byte("wexcombe county deeds since 1911"),
		"nginx": []byte(singleBlock(t, guide, "nginx")), "caddy": []byte(singleBlock(t, guide, "caddyfile")),
		// TIFF readers ignore data after the last image.
		"scan2.tiff":  append(bytes.Clone(tiff), make([]byte, 2<<20)...),
		"scan60.tiff": append(bytes.Clone(tiff), make([]byte, 60<<20)...),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
	}
	for _, row := range []struct{ name, setup string }{
		{"nginx", `export CA=$PWD/vault.pem
cp nginx /etc/nginx/conf.d/deedkeep.conf
nginx -t
nginx -g 'daemon off;' &
`},
		// The test adds only a local certificate authority, in place of a public one.
		{"caddy", `export CA=/mnt/caddy/caddy/pki/authorities/local/root.crt XDG_DATA_HOME=/mnt/caddy XDG_CONFIG_HOME=/mnt/caddy
{ printf '{\n\tlocal_certs\n\tskip_install_trust\n\tadmin off\n}\n'; cat caddy; } > /etc/caddy/Caddyfile
caddy run --config /etc/caddy/Caddyfile 2>caddy.err &
`},
	} {
		t.Run(row.name, func(t *testing.T) {
			script := guideMachine + `mount -t tmpfs guide /run
mkdir -p /etc/ssl /etc/nginx/conf.d /etc/caddy /srv/deedkeep
ip addr add 192.0.2.1/24 dev lo
ip addr add 192.0.2.10/24 dev lo
echo '192.0.2.1 vault.example.com' >> /etc/hosts
cp vault.pem vault.key /etc/ssl
systemctl() { deedkeep serve; }
` + blocks + `
KEY=$(deedkeep keys create proxy --quiet)
deedkeep users create owner --role admin --password-stdin < password
` + row.setup + proxyCheck
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, "unshare", "--mount", "--propagation", "private", "--net",
				"--pid", "--fork", "--kill-child", "--mount-proc", "bash")
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(script)
			binary, err := os.Executable()
			if err != nil {
				t.Fatalf("path of the test binary: %v", err)
			}
			cmd.Env = append(os.Environ(), "PROGRAM="+binary, "ENGINES="+vaulttest.CacheDir())
			content, err := cmd.CombinedOutput()
			out := string(content)
			if err != nil {
				t.Fatalf("run script: %v\n%s", err, out)
			}
			if testing.Verbose() {
				fmt.Printf("%s\n", out)
			}
			for _, want := range []string{
				"REDIRECT 308 https://vault.example.com/orders?q=a%20b\n",
				"PLAIN /v1/orders 400 \n", "PLAIN /v1 400 \n", "PLAIN //v1/orders 400 \n", "PLAIN /api/v1/orders 400 \n", "PROTOCOL 2\n",
				"UPLOAD 2 201 https://vault.example.com\n", "UPLOAD 60 201 https://vault.example.com\n",
				"; Secure; ", `"address":"192.0.2.10""kind":"file.filed"`, `"address":"192.0.2.10""kind":"session.started"`,
				"DOCTOR ok    through", "DOCTOR ok    proxy", "DOCTOR ok    key",
			} {
				if !strings.Contains(out, want) {
					t.Errorf("output has no %q", want)
				}
			}
			if strings.Contains(out, `"address":"127.0.0.1"`) {
				t.Error("audit log has the address of the proxy, want only that of the client")
			}
			// These findings are expected, because the vault in this test is in memory, doesn't
			// have a backup, and belongs to root.
			allowed := regexp.MustCompile(`^(warn|bad) +(disk speed|user|.*backup)`)
			for line := range strings.Lines(out) {
				found, ok := strings.CutPrefix(line, "DOCTOR ")
				if ok && (strings.HasPrefix(found, "warn") || strings.HasPrefix(found, "bad")) && !allowed.MatchString(found) {
					t.Errorf("doctor: got %q, want no other findings", found)
				}
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}

// singleBlock returns the code block in the given language from a guide. There must be exactly
// one.
func singleBlock(t *testing.T, guide, language string) string {
	t.Helper()
	_, rest, found := strings.Cut(guide, "\n```"+language+"\n")
	block, rest, closed := strings.Cut(rest, "\n```\n")
	if !found || !closed || strings.Contains(rest, "\n```"+language+"\n") {
		t.Fatalf("guide has no block %q, or more than one", language)
	}
	return block + "\n"
}

// The IIS configuration is well-formed XML, and its first rule rejects API requests over HTTP. The test doesn't run it.
func TestProxyConfigurationForIIS(t *testing.T) {
	guide, err := helpTopic("proxy")
	if err != nil {
		t.Fatalf("read guide: %v", err)
	}
	block := singleBlock(t, guide, "xml")
	rule, _, _ := strings.Cut(block, "</rule>")
	if !strings.Contains(rule, `"^/*(api/+)?v1(/|$)"`) || !strings.Contains(rule, `statusCode="400"`) ||
		!strings.Contains(rule, `{HTTPS}`) {
		t.Errorf("first rule: got %s, want one that responds with 400 to /v1 over HTTP", rule)
	}
	decoder := xml.NewDecoder(strings.NewReader(block))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("parse configuration: %v", err)
		}
	}
}

// proxyCertificate creates a self-signed certificate for vault.example.com and its key, both in
// PEM format.
func proxyCertificate(t *testing.T) (cert, key []byte) {
	t.Helper()
	privateKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("generate key: %v", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "vault.example.com"}, DNSNames: []string{"vault.example.com"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	certDER, err := x509.CreateCertificate(rand.Reader, template, template, &privateKey.PublicKey, privateKey)
	if err != nil {
		t.Fatalf("create certificate: %v", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(privateKey)
	if err != nil {
		t.Fatalf("encode key: %v", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certDER}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
}
