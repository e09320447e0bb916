package account

import "testing"

func TestDeviceNames(t *testing.T) {
	t.Parallel()
	const chrome, safari = "AppleWebKit/537.36 (KHTML, like Gecko)", "AppleWebKit/605.1.15 (KHTML, like Gecko)"
	for _, row := range []struct{ want, agent string }{
		{"Edge on Windows", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + chrome + " Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0"},
		{"Chrome on Windows", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) " + chrome + " Chrome/141.0.0.0 Safari/537.36"},
		{"Safari on Mac", "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) " + safari + " Version/18.5 Safari/605.1.15"},
		{"Safari on iPhone", "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) " + safari + " Version/18.5 Mobile/15E148 Safari/604"},
		{"Chrome on iPad", "Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) " + safari + " CriOS/141.0.0.0 Mobile/15E148 Safari/604.1"},
		{"Firefox on Linux", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"},
		{"Samsung Internet on Android", "Mozilla/5.0 (Linux; Android 15; K) " + chrome + " SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36"},
		{"Chrome on Chromebook", "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) " + chrome + " Chrome/141.0.0.0 Safari/537.36"},
		{"curl", "curl/8.14.1"}, {"Unknown browser", ""}, {"Unknown browser", "x"}, {"Browser on Windows", "Lynx (Windows)"},
	} {
		t.Run(row.agent, func(t *testing.T) {
			if got := deviceName(row.agent); got != row.want {
				t.Errorf("deviceName(%q) = %q, want %q", row.agent, got, row.want)
			}
		})
	}
}
