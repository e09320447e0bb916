package store

// Generation is the word that the last serve left in the database; "" before the first.
func (t *Tx) Generation() (word string, err error) {
	raw := t.bucket(bucketWorkspace).Get(keyGeneration)
	if raw == nil {
		return "", nil
	}
	err = decodeRecord(bucketWorkspace, keyGeneration, raw, &word)
	return word, err
}

// SetGeneration leaves a new word.
func (t *Tx) SetGeneration(word string) error { return t.putSetting(keyGeneration, word) }
