package config

import "reflect"

// Setting is one row of `config show`.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`  // in the syntax of environment variables; `***` if a secret is set
	Source string `json:"source"` // `default`, `Settings page`, `data/config.yaml:12`, `DEEDKEEP_LISTEN`, or `--listen`
	Secret bool   `json:"secret"`

	Default string `json:"-"`
	Bool    bool   `json:"-"` // the value is true or false
}

// Fixed reports whether the settings file, the environment, or a flag sets the value.
func (s Setting) Fixed() bool { return s.Source != defaultSource && s.Source != storedSource }

const defaultSource = "default"

// Show lists every setting and its source, in the order of config.example.yaml. Secrets are masked.
func (c Config) Show() []Setting { return settings(&c, c.origins) }

// Values returns the values of all settings that aren't secrets, by key, in the syntax of environment variables.
func (c Config) Values() map[string]string {
	values := map[string]string{}
	for _, f := range fields(&c) {
		if !f.isSecret() {
			values[f.key] = formatValue(f.value)
		}
	}
	return values
}

func settings(target any, origins map[string]string) []Setting {
	var all []Setting
	for _, f := range fields(target) {
		s := Setting{Key: f.key, Value: formatValue(f.value), Source: defaultSource, Secret: f.isSecret(),
			Bool: f.value.Kind() == reflect.Bool, Default: formatValue(reflect.ValueOf(f.parseTag("default")))}
		if s.Secret && s.Value != "" {
			s.Value = "***"
		}
		if where, ok := origins[f.key]; ok {
			s.Source = where
		}
		all = append(all, s)
	}
	return all
}
