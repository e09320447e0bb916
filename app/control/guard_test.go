package control

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestGuard(t *testing.T) {
	const token = "a0b1"
	for _, row := range []struct {
		name, host, token string
		headers           http.Header
		want              int
	}{
		{"the command", "deedkeep", token, http.Header{"Deedkeep-Control": {token}}, 200},
		{"the command, no token required", "deedkeep", "", nil, 200},
		{"no token", "deedkeep", token, nil, 403},
		{"empty token", "deedkeep", token, http.Header{"Deedkeep-Control": {""}}, 403},
		{"wrong token", "deedkeep", token, http.Header{"Deedkeep-Control": {"a0b2"}}, 403},
		{"token and more", "deedkeep", token, http.Header{"Deedkeep-Control": {token + " "}}, 403},
		{"two tokens", "deedkeep", token, http.Header{"Deedkeep-Control": {token, token}}, 403},
		{"token as a bearer", "deedkeep", token, http.Header{"Authorization": {"Bearer " + token}}, 403},
		{"localhost", "localhost", "", nil, 403},
		{"address", "127.0.0.1:8080", "", nil, 403},
		{"foreign host", "evil.example", "", nil, 403},
		{"host with a port", "deedkeep:80", "", nil, 403},
		{"host in capitals", "DEEDKEEP", "", nil, 403},
		{"no host", "", "", nil, 403},
		{"origin", "deedkeep", "", http.Header{"Origin": {"https://evil.example"}}, 403},
		{"opaque origin", "deedkeep", "", http.Header{"Origin": {"null"}}, 403},
		{"own origin", "deedkeep", "", http.Header{"Origin": {"http://deedkeep"}}, 403},
		{"empty origin", "deedkeep", "", http.Header{"Origin": {""}}, 403},
		{"referer", "deedkeep", "", http.Header{"Referer": {"https://evil.example/"}}, 403},
		{"fetch site", "deedkeep", "", http.Header{"Sec-Fetch-Site": {"none"}}, 403},
		{"fetch mode", "deedkeep", "", http.Header{"Sec-Fetch-Mode": {"navigate"}}, 403},
		{"fetch dest", "deedkeep", "", http.Header{"Sec-Fetch-Dest": {"document"}}, 403},
		{"origin and token", "deedkeep", token, http.Header{"Deedkeep-Control": {token}, "Origin": {"null"}}, 403},
	} {
		t.Run(row.name, func(t *testing.T) {
			reached := false
			h := Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }), row.token)
			request := httptest.NewRequest(http.MethodGet, "/admin/status", nil)
			request.Host = row.host
			for name, values := range row.headers {
				request.Header[name] = values
			}
			response := httptest.NewRecorder()
			h.ServeHTTP(response, request)
			if response.Code != row.want || reached != (row.want == 200) {
				t.Errorf("status = %d, handler called: %v, want status %d", response.Code, reached, row.want)
			}
			if want := `{"message":"The control socket is only for the deedkeep command on this machine."}` + "\n"; row.want == 403 &&
				response.Body.String() != want {
				t.Errorf("body = %q, want %q", response.Body, want)
			}
		})
	}
}
