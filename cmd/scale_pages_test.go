//go:build scale && linux

// TestScalePages measures how long the server takes to respond with pages. It uses the vault of
// TestScale:
//
//	DEEDKEEP_TEST_SCALE=100000 go test -tags scale -run ScalePages -timeout 60m -v ./cmd
package cmd

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
)

func TestScalePages(t *testing.T) {
	dir := os.Getenv("DEEDKEEP_TEST_VAULT")
	if dir == "" {
		dir = filepath.Join(t.TempDir(), "full")
	}
	fillVault(t, dir, scaleSize(t))
	p := startServer(t, dir)
	staff := p.signIn(t)
	fmt.Printf("\n| page | times | p50 ms | p99 ms | max ms |\n| --- | --- | --- | --- | --- |\n")
	for _, path := range scalePages(t, p) {
		l := &latencies{}
		address := path
		for range 30 {
			start := time.Now()
			body := staff.get(t, p.url+address)
			l.add(time.Since(start))
			if address = path; strings.Contains(path, "?") || path == "/orders" || path == "/abstracts" {
				address = nextPage(body, path)
			}
		}
		fmt.Printf("| `%s` | %s\n", path, l)
	}
	fmt.Printf("\nafterward: %s\n", p.memory(t))
	staff.measureViewer(t, p)
}

// signedInClient is an HTTP client with a signed-in session.
type signedInClient struct{ *http.Client }

// signIn creates an administrator, who can view all pages, and signs in.
func (p *serverProcess) signIn(t *testing.T) signedInClient {
	t.Helper()
	const password = "the scale of a firm"
	name := fmt.Sprintf("scale %d", time.Now().UnixNano())
	withPassword := func(s *shell) { s.in = strings.NewReader(password + "\n") }
	got := runCLI(t.Context(), t, withPassword, "users", "create", name, "--role", "admin", "--password-stdin", "--data", p.data)
	if got.code != 0 {
		t.Fatalf("users create: got %+v, want exit code 0", got)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatalf("create cookie jar: %v", err)
	}
	b := signedInClient{&http.Client{Jar: jar}}
	resp, err := b.PostForm(p.url+"/sign-in", url.Values{"name": {name}, "password": {password}})
	if err != nil {
		t.Fatalf("sign in: %v", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Request.URL.Path != "/" {
		t.Fatalf("sign in: got %s at %s, want 200 at /", resp.Status, resp.Request.URL)
	}
	return b
}

// get requests a page and returns its body.
func (s signedInClient) get(t *testing.T, address string) string {
	t.Helper()
	resp, err := s.Get(address)
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: got %s, %v, want 200\n%s", address, resp.Status, err, body)
	}
	return string(body)
}

var nextLink = regexp.MustCompile(`href="([^"]*)" rel="next"`)

// nextPage returns the path of the next page of a list, or path if this is the last page.
func nextPage(body, path string) string {
	if found := nextLink.FindStringSubmatch(body); found != nil {
		return html.UnescapeString(found[1])
	}
	return path
}

// scalePages returns the URLs of all types of pages. They show records from the middle of the vault.
func scalePages(t *testing.T, p *serverProcess) []string {
	t.Helper()
	key := p.createKey(t, "pages")
	var abstracts, orders struct{ Data []struct{ ID string } }
	getList(t, p, key, "/abstracts?created_to=2022-01-01", &abstracts)
	getList(t, p, key, "/orders?created_to=2022-01-01", &orders)
	var files struct{ Data []struct{ ID uint64 } }
	getList(t, p, key, "/file-vault/files", &files)
	list := []string{
		"/", "/abstracts", "/abstracts?status=Complete", "/abstracts?county=County+1&from=2021-01-01&to=2021-12-31",
		"/abstracts?sort=file", "/abstracts?sort=-address",
		"/abstracts/new", "/orders", "/orders?status=active&sort=due_date", "/orders?sort=-order_number",
		"/orders?county=County+3&state=GA", "/orders/new",
		"/orders?show=open", "/orders?show=overdue&sort=address", "/orders?due_from=2022-01-01&due_to=2022-03-31&sort=order_number",
		"/orders?q=2022",
		"/find?q=2024-0001", "/find?q=nothing+of+this", "/vault", "/vault/2", "/trash", "/me", "/admin/templates", "/admin/activity",
		"/admin/activity?kind=order.created",
		"/admin/users", "/admin/keys", "/admin/backups", "/admin/settings",
	}
	for i := range 3 {
		list = append(list, "/abstracts/"+abstracts.Data[i].ID, "/orders/"+orders.Data[i].ID)
	}
	return append(list, fmt.Sprintf("/documents/%d", files.Data[0].ID))
}

// measureViewer requests page images of samples at 300 dpi like the viewer: the first page, the next
// page in advance, and the next page again when the user goes to it.
func (s signedInClient) measureViewer(t *testing.T, p *serverProcess) {
	t.Helper()
	c := client.New(p.url, p.createKey(t, "read"), nil)
	fmt.Printf("\n| 2,550 pixels of | first, ms | in advance, ms | again, ms |\n| --- | --- | --- | --- |\n")
	for _, sample := range vaulttest.Samples(t) {
		if !sample.Accept || sample.Pages < 3 {
			continue
		}
		file, err := os.Open(sample.File)
		if err != nil {
			t.Fatalf("open file: %v", err)
		}
		got, err := c.Upload(t.Context(), nil, []client.Upload{{Filename: filepath.Base(sample.File), Reader: file}})
		if closeErr := file.Close(); err != nil || closeErr != nil {
			t.Fatalf("upload %s: %v, %v", sample.Path, err, closeErr)
		}
		pageImage := func(page int) time.Duration {
			start := time.Now()
			s.get(t, fmt.Sprintf("%s/documents/%d/pages/%d?w=2550", p.url, got.Files[0].ID, page))
			return time.Since(start)
		}
		first := pageImage(1)
		fmt.Printf("| %s | %d | %d | %d |\n", sample.Path, first.Milliseconds(), pageImage(2).Milliseconds(), pageImage(2).Milliseconds())
	}
}
