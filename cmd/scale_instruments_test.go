//go:build scale && linux

package cmd

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
)

// TestScaleInstruments measures lists, runsheets, and searches in a vault with 20 instruments on each abstract:
//
//	DEEDKEEP_TEST_SCALE=100000 go test -tags scale -run ScaleInstruments -timeout 120m -v ./cmd
//
// DEEDKEEP_TEST_VAULT and DEEDKEEP_TEST_INDEX are used as in TestScaleSearch. The test checks that every response
// contains the record that the request was made for.
func TestScaleInstruments(t *testing.T) {
	m := vaulttest.Mix{Until: vaulttest.MixUntil, Orders: scaleSize(t), Instruments: 20}
	dir := fillMix(t, m, "-instruments")
	startServer(t, dir).stop(t) // compiles the engines and migrates the schema if necessary
	start := time.Now()
	p := startServer(t, dir)
	key := p.createKey(t, "scale")
	p.waitSearchable(t, key)
	fmt.Printf("%d abstracts with %d instruments each; started after %d ms, searchable after %.0f s; memory %s\n",
		m.Orders, m.Instruments, p.startup.Milliseconds(), time.Since(start).Seconds(), p.memory(t))
	abstracts := p.someAbstracts(t, key, m)
	fmt.Printf("\n| request | clients | requests | p50 ms | p99 ms | max ms |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, class := range instrumentRequests {
		for _, clients := range []int{1, 4} {
			fmt.Printf("| %s | %d | %s\n", class.name, clients, p.measureInstruments(t, key, m, abstracts, class, clients))
		}
	}
	fmt.Printf("\nafterward: %s\n", p.memory(t))
	p.stop(t)
}

// instrumentRequest is a class of requests. path returns a request for instrument s, which is on the abstract with the
// given ID, and a part that the response must contain.
type instrumentRequest struct {
	name string
	path func(s vaulttest.MixRecord, abstract string) (path, want string)
}

var instrumentRequests = []instrumentRequest{
	{"abstracts", func(vaulttest.MixRecord, string) (string, string) { return "/abstracts", `"data":[{` }},
	{"instruments of an abstract", func(s vaulttest.MixRecord, abstract string) (string, string) {
		return "/abstracts/" + abstract + "/instruments", s.Number
	}},
	{"runsheet, JSON", func(s vaulttest.MixRecord, abstract string) (string, string) {
		return "/abstracts/" + abstract + "/runsheet", s.Number
	}},
	{"runsheet, CSV", func(s vaulttest.MixRecord, abstract string) (string, string) {
		return "/abstracts/" + abstract + "/runsheet.csv", s.Number
	}},
	{"instruments by type and county", func(s vaulttest.MixRecord, _ string) (string, string) {
		return "/instruments?" + url.Values{"type_id": {"1"}, "county": {s.County}}.Encode(), s.County
	}},
	{"instruments by number", func(s vaulttest.MixRecord, _ string) (string, string) {
		return "/instruments?instrument_number=" + s.Number, s.Number
	}},
	{"instruments by book and page", func(s vaulttest.MixRecord, _ string) (string, string) {
		return fmt.Sprintf("/instruments?book=%d&page=%d&per_page=100", s.Book, s.Page), s.Number
	}},
	{"instruments by party, full name", func(s vaulttest.MixRecord, _ string) (string, string) {
		return "/instruments?per_page=100&party=" + url.QueryEscape(s.Owner), s.Owner
	}},
	{"instruments by party, last name", func(s vaulttest.MixRecord, _ string) (string, string) {
		last := lastWord(s.Owner)
		return "/instruments?party=" + url.QueryEscape(last), last
	}},
	{"search, number", func(s vaulttest.MixRecord, _ string) (string, string) { return "/search?q=" + s.Number, s.Number }},
	{"search, full name", func(s vaulttest.MixRecord, _ string) (string, string) {
		return "/search?q=" + url.QueryEscape(s.Owner), lastWord(s.Owner)
	}},
	{"search, last name", func(s vaulttest.MixRecord, _ string) (string, string) {
		return "/search?q=" + url.QueryEscape(lastWord(s.Owner)), lastWord(s.Owner)
	}},
	{"search, name and book and page", func(s vaulttest.MixRecord, _ string) (string, string) {
		return "/search?q=" + url.QueryEscape(fmt.Sprintf("%s %d %d", s.Owner, s.Book, s.Page)), lastWord(s.Owner)
	}},
	{"search, book and page", func(s vaulttest.MixRecord, _ string) (string, string) {
		return "/search?q=" + url.QueryEscape(fmt.Sprintf("book %d page %d", s.Book, s.Page)), fmt.Sprint(s.Book)
	}},
	{"search, word of most instruments", func(vaulttest.MixRecord, string) (string, string) {
		return "/search?kind=instrument&q=subdivision", `"kind":"instrument"`
	}},
	{"search, two words of most instruments", func(vaulttest.MixRecord, string) (string, string) {
		return "/search?kind=instrument&q=" + url.QueryEscape("lot block"), `"kind":"instrument"`
	}},
}

func lastWord(name string) string { return name[strings.LastIndexByte(name, ' ')+1:] }

// measureInstruments sends requests of a class with concurrent clients.
func (p *serverProcess) measureInstruments(t *testing.T, key string, m vaulttest.Mix, abstracts []mixAbstract,
	class instrumentRequest, clients int) *latencies {
	t.Helper()
	const perClient = 100
	results := make([]latencies, clients)
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(client), uint64(clients)))
			for range perClient {
				a := abstracts[rng.IntN(len(abstracts))]
				path, want := class.path(m.Instrument(a.n, rng.IntN(m.Instruments)), a.id)
				start := time.Now()
				status, resp := send(t, p, key, http.MethodGet, path, nil)
				results[client].add(time.Since(start))
				if status != http.StatusOK || !strings.Contains(strings.ReplaceAll(string(resp), `": `, `":`), want) {
					t.Errorf("GET %s: got %d %.300s, want 200 and %s", path, status, resp, want)
					return
				}
			}
		})
	}
	wg.Wait()
	all := &latencies{}
	for _, r := range results {
		all.all = append(all.all, r.all...)
	}
	return all
}

// mixAbstract is an abstract of the mix.
type mixAbstract struct {
	n  int    // number in the mix
	id string // ID in the API
}

// someAbstracts returns a hundred random abstracts.
func (p *serverProcess) someAbstracts(t *testing.T, key string, m vaulttest.Mix) (list []mixAbstract) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		n := rng.IntN(m.Orders)
		var got struct {
			Data []struct {
				AbstractID string `json:"abstract_id"`
			}
		}
		getList(t, p, key, "/instruments?instrument_number="+m.Instrument(n, 0).Number, &got)
		if len(got.Data) != 1 {
			t.Fatalf("instrument %s: got %d, want 1", m.Instrument(n, 0).Number, len(got.Data))
		}
		list = append(list, mixAbstract{n, got.Data[0].AbstractID})
	}
	return list
}
