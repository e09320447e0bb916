package apitypes_test

import (
	"testing"

	"deedkeep/app/apitypes"
)

func TestSnippetIsEscaped(t *testing.T) {
	t.Parallel()
	var s apitypes.Snippet
	if got := s.HTML(); got != nil {
		t.Errorf("HTML of an empty snippet = %s, want nil", *got)
	}
	s.Add(`</mark><script>alert("1")</script> & `, false)
	s.Add(`<b title='x'>`, true)
	const want = `&lt;/mark&gt;&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt; &amp; <mark>&lt;b title=&#39;x&#39;&gt;</mark>`
	if got := s.HTML(); got == nil || *got != want {
		t.Errorf("HTML() = %v, want %s", got, want)
	}
}

func TestHitShape(t *testing.T) {
	t.Parallel()
	page := 2
	snippet := "<mark>Elm</mark>"
	for want, hit := range map[string]apitypes.Hit{
		`{"kind":"file","id":7,"heading":"a.pdf","snippet":"<mark>Elm</mark>","page":2,"abstract":{"id":"k3Jd82Qz","heading":"26-0017"},` +
			`"match":"words","score":1.5}`: {
			Kind: "file", ID: "7", Heading: "a.pdf", Snippet: &snippet, Page: &page,
			Abstract: &apitypes.HitAbstract{ID: "k3Jd82Qz", Heading: "26-0017"}, Match: "words", Score: 1.5},
		`{"kind":"order","id":"Zz9aB31x","heading":"T-1","snippet":null,"page":null,"abstract":null,"match":"exact","score":0}`: {
			Kind: "order", ID: `"Zz9aB31x"`, Heading: "T-1", Match: "exact"},
		`{"kind":"instrument","id":9,"heading":"Deed","snippet":null,"page":null,"abstract":{"id":"k3Jd82Qz","heading":"26-0017"},` +
			`"match":"words","score":2,"abstract_id":"k3Jd82Qz"}`: {
			Kind: "instrument", ID: "9", Heading: "Deed", Abstract: &apitypes.HitAbstract{ID: "k3Jd82Qz", Heading: "26-0017"},
			Match: "words", Score: 2, AbstractID: "k3Jd82Qz"},
	} {
		if got, err := apitypes.Marshal(hit); err != nil || string(got) != want {
			t.Errorf("Marshal(%+v) = %s, %v; want %s", hit, got, err, want)
		}
	}
}
