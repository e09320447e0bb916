package doctor

import (
	"deedkeep/app/apitypes"
	"deedkeep/app/config"
)

// checkPublicURL checks whether public_url or allowed_hosts limits the names that the server
// believes, if other machines can reach it. Links begin with public_url.
func checkPublicURL(c config.Config) apitypes.Diagnosis {
	switch {
	case c.PublicURL != "":
		return ok("public_url", c.PublicURL)
	case len(c.AllowedHosts) > 0:
		return ok("public_url", "not set; links begin with the host name of each request, and allowed_hosts limits these names")
	case c.OnLoopback():
		return ok("public_url", "not set; only this machine can connect to "+c.Listen)
	}
	return warn("public_url", "not set, and other machines can connect to "+c.Listen+
		": the server accepts requests for any host name, and links begin with that name",
		"set public_url to the address that your users open, such as https://vault.example.com:8443, or list its host names in allowed_hosts")
}
