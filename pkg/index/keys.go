package index

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// checkKeys refuses an object that has a key twice, at any depth, and anything after the object: two readers could take
// different values from it.
func checkKeys(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	tok, err := dec.Token()
	if err != nil {
		return err
	}
	if tok != json.Delim('{') {
		return errors.New("a line is a JSON object")
	}
	if err := object(dec, 1); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something after the JSON object")
	}
	return nil
}

const maxDepth = 16

func object(dec *json.Decoder, depth int) error {
	seen := make(map[string]bool)
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		name, ok := key.(string)
		if !ok {
			return errors.New("a key is not a string")
		}
		if folded := strings.ToLower(name); seen[folded] { // as encoding/json matches keys
			return fmt.Errorf("the key %q is there twice", name)
		}
		seen[strings.ToLower(name)] = true
		if err := value(dec, depth); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

func value(dec *json.Decoder, depth int) error {
	tok, err := dec.Token()
	if err != nil {
		return err
	}
	if depth > maxDepth {
		return errors.New("the JSON is nested too deeply")
	}
	switch tok {
	case json.Delim('{'):
		return object(dec, depth+1)
	case json.Delim('['):
		for dec.More() {
			if err := value(dec, depth+1); err != nil {
				return err
			}
		}
		_, err = dec.Token()
	}
	return err
}
