package extract_test

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"
	"time"

	"deedkeep/app/extract"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// TestStartsInPackets measures where the instruments of packets start. Of the forms in heldout, only the result is known.
func TestStartsInPackets(t *testing.T) {
	for _, c := range []struct {
		set     string
		quality quality
		found   float64 // at least, in percent
		wrong   float64 // at most, in percent of those reported
	}{
		{fitSet, clean, 92, 3}, {fitSet, degraded, 92, 3}, {heldOutSet, clean, 92, 3}, {heldOutSet, degraded, 92, 3},
	} {
		s := scorePackets(t, generatePackets(t, c.set, c.quality, 25), os.Getenv("EXTRACT_SHOW") == c.set+" "+c.quality.name && c.set == fitSet)
		t.Logf("%-8s %-9s %v", c.set, c.quality.name, s)
		if s.found() < c.found || s.falseShare() > c.wrong {
			t.Errorf("%s, %s: %v, want %v%% found and no more than %v%% wrong", c.set, c.quality.name, s, c.found, c.wrong)
		}
	}
}

// TestCutConfidence checks the confidence of starts: of those of forms that nothing was fitted to that are shown with at least
// 90%, nine of ten are right. -fit writes cuts.json.
func TestCutConfidence(t *testing.T) {
	if flag.Lookup("fit").Value.String() == "true" {
		right, all := map[string]int{}, map[string]int{}
		for _, q := range []quality{clean, degraded} {
			for _, p := range generatePackets(t, fitSet, q, 150) {
				for page, why := range extract.CutReasons(p.pages, extract.DefaultRules(), time.Now()) {
					all[why]++
					if slices.Contains(p.starts, page) {
						right[why]++
					}
				}
			}
		}
		percents := map[string]int{}
		for why, count := range all {
			percents[why] = 100 * (right[why] + 1) / (count + 2)
			t.Logf("%-15s %d of %d right", why, right[why], count)
		}
		raw, err := json.MarshalIndent(percents, "", "\t")
		vaulttest.NoError(t, err)
		vaulttest.NoError(t, os.WriteFile("cuts.json", append(raw, '\n'), 0o600))
		return
	}
	right, sure := 0, 0
	for _, p := range generatePackets(t, heldOutSet, degraded, 12) {
		for _, i := range extract.ReadAll(p.pages, extract.DefaultRules(), model.NewDocumentTypes(), time.Now()) {
			if i.First == 1 && i.Confidence != 100 {
				t.Errorf("page 1 has the confidence %d, want 100", i.Confidence)
			}
			if i.Confidence >= 90 && i.First > 1 {
				sure++
				if slices.Contains(p.starts, i.First) {
					right++
				}
			}
		}
	}
	t.Logf("%d of %d starts with at least 90%% are right", right, sure)
	if sure == 0 || 10*right < 9*sure {
		t.Errorf("of %d starts shown with at least 90%%, %d are right, want nine of ten", sure, right)
	}
}
