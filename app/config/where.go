package config

// Where tells where the value of a key came from, as a Problem has it: `data/config.yaml:12`, `DEEDKEEP_LISTEN`,
// `--listen`; "" for a default.
func (c Config) Where(key string) string { return c.origins[key] }
