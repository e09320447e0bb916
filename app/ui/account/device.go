package account

import "strings"

// agentName maps part of a User-Agent header to the name of a browser or operating system.
type agentName struct{ token, name string }

// Browsers also name other browsers in their User-Agent headers, so the first match in the list
// counts.
var (
	browsers = []agentName{
		{"Edg/", "Edge"}, {"EdgA/", "Edge"}, {"EdgiOS/", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"},
		{"Vivaldi/", "Vivaldi"},
		{"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"}, {"CriOS/", "Chrome"}, {"HeadlessChrome/", "Chrome"}, {"Chrome/", "Chrome"},
		{"Safari/", "Safari"}, {"curl/", "curl"},
	}
	systems = []agentName{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"CrOS", "Chromebook"},
		{"Mac OS X", "Mac"}, {"Macintosh", "Mac"}, {"Linux", "Linux"}, {"X11", "Linux"},
	}
)

// deviceName returns the browser and operating system that a User-Agent header describes.
func deviceName(agent string) string {
	browser, system := matchAgent(browsers, agent), matchAgent(systems, agent)
	switch {
	case browser == "" && system == "":
		return "Unknown browser"
	case browser == "":
		browser = "Browser"
	case system == "":
		return browser
	}
	return browser + " on " + system
}

func matchAgent(signs []agentName, agent string) string {
	for _, s := range signs {
		if strings.Contains(agent, s.token) {
			return s.name
		}
	}
	return ""
}
