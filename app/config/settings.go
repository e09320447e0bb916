package config

// Setting is one key for `config show`.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`  // as it could be written in the environment; `***` for a secret that is set
	Source string `json:"source"` // `default`, `data/config.yaml:12`, `DEEDKEEP_LISTEN`, `--listen`
	Secret bool   `json:"secret"`
}

// Show lists every setting in force with where it came from, secrets masked, in the order of config.example.yaml.
func (c Config) Show() []Setting { return settings(&c, c.origins) }

func settings(target any, origins map[string]string) []Setting {
	var all []Setting
	for _, f := range fields(target) {
		s := Setting{Key: f.key, Value: formatValue(f.value), Source: "default", Secret: f.secret}
		if f.secret && s.Value != "" {
			s.Value = "***"
		}
		if where, ok := origins[f.key]; ok {
			s.Source = where
		}
		all = append(all, s)
	}
	return all
}
