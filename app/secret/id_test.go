package secret

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

func TestIDVectors(t *testing.T) {
	keys := testKeys(t)
	for _, row := range []struct {
		kind string
		n    uint64
		want string
	}{
		{"abstract", 0, "Ho57nDTKaWb"},
		{"abstract", 1, "DvEUbbCS8Hs"},
		{"abstract", 2, "H8qGK6AT0mV"},
		{"abstract", math.MaxUint64, "6NpvOuK929U"},
		{"order", 1, "2MHaAaE8NcX"},
	} {
		ids := keys.IDs(row.kind)
		if got := ids.Encode(row.n); got != row.want {
			t.Errorf("%s: Encode(%d) = %s, want %s", row.kind, row.n, got, row.want)
		}
		if n, ok := ids.Decode(row.want); !ok || n != row.n {
			t.Errorf("%s: Decode(%s) = %d, %v", row.kind, row.want, n, ok)
		}
	}
}

func TestIDsAreAPermutation(t *testing.T) {
	ids, seen := testKeys(t).IDs("abstract"), map[string]uint64{}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 20000 {
		n := uint64(i)
		if i%2 == 1 {
			n = random.Uint64()
		}
		id := ids.Encode(n)
		if other, known := seen[id]; known && other != n || len(id) != 11 || !isBase62(id) {
			t.Fatalf("Encode(%d) = %q, already seen for %d: %v, want a unique ID of 11 characters", n, id, other, known)
		}
		seen[id] = n
		if back, ok := ids.Decode(id); !ok || back != n {
			t.Fatalf("Decode(Encode(%d)) = %d, %v, encoded as %s", n, back, ok, id)
		}
	}
}

// TestIDAvalanche checks that changing one bit of the number changes each bit of the ID
// with a probability of 1/2.
func TestIDAvalanche(t *testing.T) {
	ids, random := testKeys(t).IDs("abstract"), rand.New(rand.NewPCG(3, 4))
	number := func(n uint64) uint64 {
		value, ok := parseBase62Uint64(ids.Encode(n))
		if !ok {
			t.Fatalf("parseBase62Uint64(Encode(%d)) failed, want a number", n)
		}
		return value
	}
	const samples = 400
	var flips [64]int
	for bit := range 64 {
		total := 0
		for range samples {
			n := random.Uint64N(1 << 40) // real record numbers are small
			difference := number(n) ^ number(n^1<<bit)
			total += bits.OnesCount64(difference)
			for out := range 64 {
				flips[out] += int(difference >> out & 1)
			}
		}
		if mean := float64(total) / samples; mean < 31 || mean > 33 {
			t.Errorf("bit %d of the number changes %.2f bits of the ID, want 31 to 33", bit, mean)
		}
	}
	for out, count := range flips {
		if share := float64(count) / (64 * samples); share < 0.48 || share > 0.52 {
			t.Errorf("bit %d of the ID changes in %.3f of the cases, want 0.48 to 0.52", out, share)
		}
	}
}

func TestIDsDifferByKindAndInstallation(t *testing.T) {
	other, err := NewKeys(testRand(1))
	if err != nil {
		t.Fatalf("NewKeys: %v", err)
	}
	abstracts := testKeys(t).IDs("abstract")
	for name, ids := range map[string]*IDs{"kind": testKeys(t).IDs("order"), "installation": other.IDs("abstract")} {
		for n := range uint64(200) {
			if ids.Encode(n) == abstracts.Encode(n) {
				t.Errorf("another %s encodes %d as the same ID, want a different one", name, n)
			}
			if back, ok := ids.Decode(abstracts.Encode(n)); ok && back < 1<<32 {
				t.Errorf("another %s decodes the ID of %d as %d, want it rejected", name, n, back)
			}
		}
	}
}

func TestIDDecodeRejects(t *testing.T) {
	ids := testKeys(t).IDs("abstract")
	good := ids.Encode(7)
	for name, text := range map[string]string{
		"empty": "", "short": good[1:], "long": good + "0", "zero in front": "0" + good, "over 64 bits": "LygHa16AHYG",
		"far over 64 bits": "zzzzzzzzzzz", "blank": " " + good[1:], "dash": good[:5] + "-" + good[6:], "no ASCII": good[:9] + "é",
	} {
		t.Run(name, func(t *testing.T) {
			if n, ok := ids.Decode(text); ok || n != 0 {
				t.Errorf("%s: Decode(%q) = %d, %v, want it rejected", name, text, n, ok)
			}
		})
	}
}

func FuzzDecodeID(f *testing.F) {
	ids := testKeys(f).IDs("abstract")
	f.Add(ids.Encode(0))
	f.Add(maxBase62Uint64)
	f.Add("zzzzzzzzzzz")
	f.Fuzz(func(t *testing.T, text string) {
		if n, ok := ids.Decode(text); ok && ids.Encode(n) != text {
			t.Errorf("Decode accepted %q, want only the canonical ID of %d", text, n)
		}
	})
}

func BenchmarkEncodeID(b *testing.B) {
	ids := testKeys(b).IDs("abstract")
	for n := uint64(0); b.Loop(); n++ {
		ids.Encode(n)
	}
}
