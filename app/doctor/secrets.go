package doctor

import (
	"strings"

	"deedkeep/app/apitypes"
	"deedkeep/app/config"
)

// checkSettings reports which settings file was read.
func checkSettings(c config.Config) apitypes.Diagnosis {
	const check = "settings"
	if ignored := c.IgnoredFile(); ignored != "" {
		return warn(check, ignored+" is ignored, because the settings are in "+c.File(), "move its lines there and remove it")
	}
	if c.File() == "" {
		return ok(check, "no settings file; flags, the environment, and defaults apply")
	}
	return ok(check, "read from "+c.File())
}

// checkSecrets checks whether other users can read the settings file or the files with secrets that it names. It skips
// the certificate's key, which checkPermissions covers.
func checkSecrets(c config.Config) apitypes.Diagnosis {
	const check = "secrets"
	var message, action []string
	for _, e := range c.Exposures() {
		if e.Key != "tls.key" {
			message = append(message, e.Path+" ("+e.Key+") can be read by "+e.Readers+" on this machine")
			action = append(action, "chmod go= "+e.Path)
		}
	}
	if len(message) > 0 {
		return warn(check, strings.Join(message, "; "), "give only the service account access: "+strings.Join(action, "; "))
	}
	return ok(check, "no other user can read a settings file or passphrase file with a secret")
}
