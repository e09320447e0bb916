package api_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
	"deedkeep/app/vault"
)

// If a part of a response can't be computed, the response has the rest and says what is missing.
func TestMissingParts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		fail func() error
		log  []string
	}{
		{"an error", func() error { return errors.New("broken index") }, []string{"broken index"}},
		{"a panic", func() error { var none []error; return none[len(none)] },
			[]string{"index out of range", "missing_part_test.go"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			srv := newTestServer(t)
			abstract := srv.createID(t, abstractCall(201, "", fieldPart("county", "Wexcombe")))
			path := "/abstracts/" + abstract
			srv.createInstrument(t, abstract, `{"type":"Warranty Deed","grantors":["Amos Reed"],"grantees":["Bea Cole"]}`)
			srv.createInstrument(t, abstract, `{"type":"Warranty Deed","grantors":["Dora Finch"],"grantees":["Carl Diaz"]}`)
			mortgage := srv.createInstrument(t, abstract, `{"type":"Mortgage","grantors":["Carl Diaz"],"grantees":["First Bank"]}`)
			srv.vault.Vault.BeforeDerive = func(string) error { return row.fail() }
			const file = "Type,Grantors,Relations\nRelease or Satisfaction,First Bank,releases 3\n"
			both := vault.PartGaps + ", " + vault.PartStatus
			one := fmt.Sprintf("/instruments/%d", mortgage.ID)
			for _, c := range []struct {
				call
				missing string
				has     []string
			}{
				{call{as: "read", method: "GET", path: "/v1" + path + "/runsheet", header: []string{"X-Request-Id: r-1"},
					status: 200}, both,
					[]string{`"gaps":[]`, "Amos Reed", "First Bank", `"status":null`, `"status":"not_applicable"`}},
				{call{as: "read", method: "GET", path: "/v1" + path + "/instruments", status: 200}, vault.PartStatus,
					[]string{"Amos Reed", "First Bank"}},
				{call{as: "read", method: "GET", path: "/v1/instruments?status=open", status: 200}, vault.PartStatus,
					[]string{"First Bank"}},
				{call{as: "read", method: "GET", path: "/v1" + one, status: 200}, vault.PartStatus, []string{`"status":null`}},
				{jsonCall("PATCH", one, `{"remarks":"x"}`, 200), vault.PartStatus, []string{`"status":null`, `"remarks":"x"`}},
				{jsonCall("PATCH", one, `{"status":"released"}`, 200), "", []string{`"status":"released"`}},
				{jsonCall("PATCH", one, `{"status":null}`, 200), vault.PartStatus, []string{`"status":null`}},
				{call{as: "full", method: "POST", path: "/v1" + path + "/runsheet", header: []string{asForm}, status: 200,
					body: formBody(filePart("file", "r.csv", file))}, "",
					[]string{"First Bank"}},
				{call{as: "full", method: "POST", path: "/v1" + path + "/bring-down", status: 201}, "", []string{`"id"`}},
			} {
				got := srv.do(t, c.call)
				if missing := got.Header.Get(apitypes.MissingParts); missing != c.missing {
					t.Errorf("%s %s: missing parts = %q, want %q", c.method, c.path, missing, c.missing)
				}
				for _, text := range c.has {
					if !strings.Contains(string(got.body), text) {
						t.Errorf("%s %s: the response lacks %q: %s", c.method, c.path, text, got.body)
					}
				}
			}
			for _, text := range append([]string{`"level":"ERROR"`, `"part":"gaps"`, `"part":"status"`, `"client_request_id":"r-1"`}, row.log...) {
				if !strings.Contains(srv.log.String(), text) {
					t.Errorf("the log lacks %q", text)
				}
			}
			srv.vault.Vault.BeforeDerive = nil
			if ids, statuses, gaps := srv.runsheet(t, abstract); len(ids) != 3 || len(gaps) != 1 || statuses[2] != "open" {
				t.Errorf("runsheet = %v, %v, %v, want one gap and an open mortgage", ids, statuses, gaps)
			}
		})
	}
}

// A lone apostrophe in the name of a party is a speck that OCR read.
func TestLoneApostrophe(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	abstract := srv.createID(t, abstractCall(201, ""))
	first := srv.createInstrument(t, abstract, `{"type":"Warranty Deed","grantors":["Amos Reed"],"grantees":["John Smith '"]}`)
	srv.createInstrument(t, abstract, `{"type":"Warranty Deed","grantors":["John X Smith"],"grantees":["Bea Cole"]}`)
	srv.createInstrument(t, abstract, `{"type":"Warranty Deed","grantors":["Dora Finch"],"grantees":["'"]}`)
	_, _, gaps := srv.runsheet(t, abstract)
	if want := fmt.Sprint(first.ID+1, " Dora Finch"); len(gaps) != 1 || gaps[0] != want {
		t.Errorf("gaps = %q, want %q", gaps, want)
	}
	srv.do(t, call{as: "read", method: http.MethodGet, path: "/v1/abstracts/" + abstract + "/instruments", status: 200})
	srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts/" + abstract + "/bring-down", status: 201})
}
