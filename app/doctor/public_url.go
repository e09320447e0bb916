package doctor

import (
	"deedkeep/app/apitypes"
	"deedkeep/app/config"
)

// checkPublicURL checks public_url, the base URL of links, if other machines can reach the
// server.
func checkPublicURL(c config.Config) apitypes.Diagnosis {
	switch {
	case c.PublicURL != "":
		return ok("public_url", c.PublicURL)
	case c.OnLoopback():
		return ok("public_url", "not set; only this machine can connect to "+c.Listen)
	}
	return warn("public_url", "not set, and other machines can connect to "+c.Listen+
		": links begin with the host name of each request",
		"set public_url to the address that your users open, such as https://vault.example.com:8443")
}
