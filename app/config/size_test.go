package config

import (
	"math"
	"testing"
	"time"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "1": 1, "104857600": 100 * MB, "100 MB": 104_857_600, "100MB": 104_857_600, "100 mb": 104_857_600, "8 MiB": 8_388_608,
		"64KiB": 65_536, "1 GB": 1_073_741_824, "2 TiB": 2_199_023_255_552, "512 B": 512, " 5  KB ": 5120, "-1": -1, "-1 MB": -MB,
		"007 MB":              7 * MB,
		"9223372036854775807": math.MaxInt64, "8388607 TB": 8388607 * TB,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("parseSize(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", " ", "MB", "1.5 GB", "1,000", "1_000", "0x10", "+5", "--5", "5 M", "5 KBs", "5 MB 3", "5 PB",
		"five", "9223372036854775808", "8388608 TB", "1e3", "5 Mb/s", "５ MB"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("parseSize(%q) = %d, want an error", text, got)
		}
	}
}

func TestSizeTexts(t *testing.T) {
	for want, size := range map[string]Size{
		"0": 0, "1 B": 1, "1000 B": 1000, "1 KB": 1024, "1025 B": 1025, "64 KB": 64 * kb, "100 MB": 100 * MB, "1536 MB": 1536 * MB,
		"2 GB": 2 * GB, "1 TB": TB, "-1 B": -1,
	} {
		if got := size.String(); got != want {
			t.Errorf("String of %d = %q, want %q", int64(size), got, want)
		}
		if back, err := parseSize(want); err != nil || back != size {
			t.Errorf("parseSize(%q) = %d, %v; want %d", want, int64(back), err, int64(size))
		}
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "5m": 5 * time.Minute, "1h30m": 90 * time.Minute, "24h": day, "7d": 7 * day, "1d12h": 36 * time.Hour,
		"500ms": 500 * time.Millisecond,
		"0s":    0, "0": 0, "-1s": -time.Second, " 1m ": time.Minute, "0d": 0,
		"20y": 20 * 365 * day, "1y30d": 395 * day, "1y1d12h": 366*day + 12*time.Hour, "0y": 0, "200y": 200 * 365 * day,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "5 minutes", "d", "-1d", "+1d", "1.5d", "1d-1h", "1d+1h", "1d1d", "1dx", "1h1d", "99999d",
		"65535d2562047h", "y", "-1y", "+1y", "1.5y", "1y-1d", "1y+1h", "1y1y", "1d1y", "201y", "1 year"} {
		if got, err := ParseDuration(text); err == nil && got < 0 || err == nil && text != "65535d2562047h" {
			t.Errorf("ParseDuration(%q) = %v, want an error", text, got)
		}
	}
	for want, d := range map[string]time.Duration{"0s": 0, "5m": 5 * time.Minute, "24h": day, "1h30m": 90 * time.Minute,
		"1m30s": 90 * time.Second, "10s": 10 * time.Second, "1h0m1s": time.Hour + time.Second, "500ms": 500 * time.Millisecond,
		"1y": 365 * day, "20y": 20 * 365 * day, "366d": 366 * day, "2d": 2 * day, "180d": 180 * day, "36h": 36 * time.Hour,
		"1608000h": 67_000 * day} {
		if got := FormatDuration(d); got != want {
			t.Errorf("FormatDuration(%v) = %q, want %q", d, got, want)
		}
		if back, err := ParseDuration(want); err != nil || back != d {
			t.Errorf("ParseDuration(%q) = %v, %v; want %v", want, back, err, d)
		}
	}
}

func FuzzSize(f *testing.F) {
	f.Add("100 MB")
	f.Add("-9223372036854775808")
	f.Add("7d")
	f.Fuzz(func(t *testing.T, text string) {
		if size, err := parseSize(text); err == nil {
			if back, err := parseSize(size.String()); err != nil || back != size {
				t.Errorf("size %q = %d, formatted %q and parsed again %d, %v", text, int64(size), size, int64(back), err)
			}
		}
		if d, err := ParseDuration(text); err == nil {
			if back, err := ParseDuration(FormatDuration(d)); err != nil || back != d {
				t.Errorf("duration %q = %v, formatted %q and parsed again %v, %v", text, d, FormatDuration(d), back, err)
			}
		}
	})
}
