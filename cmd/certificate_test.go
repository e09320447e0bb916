package cmd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/apitypes"
)

// writeCertificate writes a certificate that expires at the given time, with its key, to one file.
func writeCertificate(t *testing.T, path string, expires time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("generate key: %v", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"vault.example.com"}, NotBefore: expires.AddDate(-1, 0, 0), NotAfter: expires,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatalf("create certificate: %v", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatalf("encode key: %v", err)
	}
	content := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
}

// "config check" and "status" say when the certificate has expired or expires soon. The settings are valid anyway.
func TestExpiringCertificate(t *testing.T) {
	for _, row := range []struct {
		name          string
		expires       time.Time
		check, status string // what they say; "" means no warning
	}{
		{"expired", time.Now().Add(-time.Hour), "is expired", "EXPIRED: expires "},
		{"expires soon", time.Now().AddDate(0, 0, 13), "is about to expire", "EXPIRES SOON: expires "},
		{"valid", time.Now().AddDate(0, 0, 15), "", "expires "},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "vault.pem")
			writeCertificate(t, file, row.expires)
			settings := "tls: {cert: '" + file + "', key: '" + file + "'}\n"
			if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(settings), 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
			got := runCLI(t.Context(), t, nil, "config", "check", "--data", dir)
			if warned := strings.Contains(got.messages, "WARNING: tls.cert: "); got.code != 0 || warned != (row.check != "") ||
				!strings.Contains(got.messages, row.check) {
				t.Errorf("config check: got %+v, want exit code 0 and %q", got, row.check)
			}
			s, _, _ := testShell()
			from, until := apitypes.At(row.expires.AddDate(-1, 0, 0)), apitypes.At(row.expires)
			shown := s.certificateRow(&apitypes.Certificate{NotBefore: from, NotAfter: until})
			if !strings.HasPrefix(shown, row.status) {
				t.Errorf("status: got %q, want it to begin with %q", shown, row.status)
			}
		})
	}
}
