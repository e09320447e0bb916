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
		return ok("public_url", "it is empty, and "+c.Listen+" is reached from this machine alone")
	}
	return warn("public_url", "it is empty, and other machines reach "+c.Listen+
		": links begin with whatever name a client calls the server by",
		"set public_url to the address that people use, like https://vault.example.com:8443")
}
