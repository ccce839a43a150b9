package jsonx

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

type destination struct {
	A int             `json:"a"`
	K int             `json:"k"`
	B struct{ C any } `json:"b"`
}

// TestRefused checks what is rejected, and the position of the error.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name, text string
		options    Options
		kind       Kind
		line, col  int
		message    string
	}{
		{"empty", "", Options{}, Syntax, 1, 1, "unexpected EOF"},
		{"space", " \n", Options{}, Syntax, 2, 1, "unexpected EOF"},
		{"cut off", "{\n\"a\": ", Options{}, Syntax, 2, 6, "unexpected EOF"},
		{"syntax", "{\n \"a\": 1,\n}", Options{}, Syntax, 3, 1, "invalid character '}'"},
		{"comment", "// a\n{}", Options{}, Syntax, 1, 1, "invalid character '/'"},
		{"byte order mark", "\ufeff{}", Options{}, Syntax, 1, 1, "invalid character"},
		{"leading zero", `{"a": 01}`, Options{}, Syntax, 1, 8, "invalid character '1'"},
		{"not valid UTF-8", "{\"a\": 1,\n\"\xff\": 2}", Options{}, NotUTF8, 2, 2, "not valid UTF-8"},
		{"too large", `{"a": 1}`, Options{MaxBytes: 7}, TooLarge, 1, 1, "8 bytes; the limit is 7"},
		{"second value", "{}\n {}", Options{}, TrailingData, 2, 2, "after the JSON document"},
		{"second brace", "{}}", Options{}, TrailingData, 1, 3, "after the JSON document"},
		{"zero byte", "{}\x00", Options{}, TrailingData, 1, 3, "after the JSON document"},
		{"too deep", "[\n[\n[]]]", Options{MaxDepth: 2}, TooDeep, 3, 1, "more than 2 levels"},
		{"far too deep", strings.Repeat("[", 1_000_000), Options{}, Syntax, 1, 10001, "depth"},
		{"default depth", strings.Repeat("[", 65) + strings.Repeat("]", 65), Options{}, TooDeep, 1, 65, "more than 64 levels"},

		{"is duplicated", "{\"a\": 1,\n\"a\": 2}", Options{}, DuplicateKey, 2, 1, `"a" is duplicated`},
		{"twice, exact", `{"a": 1, "a": 2}`, Options{ExactKeys: true}, DuplicateKey, 1, 10, `"a" is duplicated`},
		{"escaped", `{"a": 1, "\u0061": 2}`, Options{ExactKeys: true}, DuplicateKey, 1, 10, `"a" is duplicated`},
		{"other case", `{"a": 1, "A": 2}`, Options{}, DuplicateKey, 1, 10, `"A" is duplicated`},
		{"kelvin", "{\"k\": 1, \"\u212a\": 2}", Options{}, DuplicateKey, 1, 10, "is duplicated"},
		{"long s", "{\"s\": 1, \"\\u017f\": 2}", Options{}, DuplicateKey, 1, 10, "is duplicated"},
		{"sharp s", "{\"\u00df\": 1, \"\u1e9e\": 2}", Options{}, DuplicateKey, 1, 11, "is duplicated"},
		{"nested", `{"b": {"C": [{"x": 1, "x": 2}]}}`, Options{}, DuplicateKey, 1, 23, `"x"`},
		{"after nested", `{"a": {"a": "a"}, "b": ["a"], "a": 2}`, Options{}, DuplicateKey, 1, 31, `"a"`},
		{"empty key", `{"": 1, "": 2}`, Options{}, DuplicateKey, 1, 9, `""`},
		{"surrogates", `{"\ud800": 1, "\ud801": 2}`, Options{}, DuplicateKey, 1, 15, "is duplicated"}, // both are read as U+FFFD
		{"many", manyMembers(40, `"X7"`), Options{}, DuplicateKey, 1, 0, `"X7"`},

		{"type", "{\n\"a\": \"x\"}", Options{}, WrongValue, 2, 0, "cannot unmarshal string"},
		{"unknown", `{"x": 1}`, Options{KnownFields: true}, WrongValue, 0, 0, `unknown field "x"`},
		{"unknown below", `{"b": {"x": 1}}`, Options{KnownFields: true}, WrongValue, 0, 0, `unknown field "x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var v destination
			err := Decode([]byte(c.text), &v, c.options)
			refused, ok := errors.AsType[*Error](err)
			switch {
			case !ok:
				t.Fatalf("got %v", err)
			case refused.Kind != c.kind || refused.Line != c.line || c.col != 0 && refused.Column != c.col:
				t.Errorf("got kind %d at %d:%d, want %d at %d:%d: %v", refused.Kind, refused.Line, refused.Column, c.kind, c.line, c.col, err)
			case !strings.Contains(err.Error(), c.message):
				t.Errorf("got %q, want %q", err, c.message)
			}
			if checked := Check([]byte(c.text), c.options); (checked == nil) != (c.kind == WrongValue) {
				t.Errorf("checked: %v", checked)
			}
		})
	}
	if err := Decode([]byte(`{"a": `), new(destination), Options{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
}

// manyMembers returns an object with that many keys of a letter and a number, and one more.
func manyMembers(n int, last string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"x%d": %d, `, i, i)
	}
	return "{" + b.String() + last + ": 0}"
}

// TestAccepted checks what must not be refused.
func TestAccepted(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		options Options
	}{
		"object":           {` {"a": 1, "b": {"C": {"a": 1, "b": [{"a": 1}, {"a": 2}]}}, "k": 2}` + "\n", Options{KnownFields: true, MaxBytes: 80}},
		"other field":      {`{"x": {"a": "a", "b": ",\"a\":{[]}"}, "a": 1}`, Options{}},
		"number":           {"1", Options{}},
		"text":             {`"a"`, Options{}},
		"null":             {"null", Options{}},
		"case in maps":     {`{"a": 1, "A": 2}`, Options{ExactKeys: true}},
		"depth":            {"[[]]", Options{MaxDepth: 2}},
		"many":             {manyMembers(100, `"y"`), Options{}},
		"dotted i":         {"{\"i\": 1, \"\u0130\": 2}", Options{}}, // not one field for encoding/json
		"letters as words": {`{"stra\u00dfe": 1, "strasse": 2}`, Options{}},
	} {
		var v any
		if err := Decode([]byte(c.text), &v, c.options); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var v map[string]any
	if err := Decode([]byte(`{"n": 12345678901234567890.10}`), &v, Options{UseNumber: true}); err != nil || v["n"] != json.Number("12345678901234567890.10") {
		t.Errorf("got %v, %v", v["n"], err)
	}
}

func TestMembers(t *testing.T) {
	for text, want := range map[string]string{
		` {"a" : 1 , "b\u0062":{"c":[1,"]}"]},"":"x\"y" , "d":-1e3}`: `a=1@8 bb={"c":[1,"]}"]}@22 ="x\"y"@40 d=-1e3@53 `,
		`[1, "a,b",[ ], {} ,null]`:                                   `=1@1 ="a,b"@4 =[ ]@10 ={}@15 =null@19 `,
		"{}":                                                         "",
		" [ ]":                                                       "",
		"1":                                                          "",
		"":                                                           "",
	} {
		got, n := "", 0
		for m := range Members([]byte(text)) {
			got += fmt.Sprintf("%s=%s@%d ", m.Key, m.Value, m.Offset)
			if m.Index != n {
				t.Errorf("%s: %d is number %d", text, m.Index, n)
			}
			n++
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	for range Members([]byte("[1,2]")) {
		break
	}
}

// FuzzCheck compares the keys with those that a Decoder reads token by token, and with the fields that encoding/json
// fills.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{`{"a":1,"A":2}`, `{"b":{"C":[{"x":1,"x":2}]}}`, `[{"k":1},{"k":1}]`, `{"a\"":"}","\u0061\"":[]}`, "{} {}", `{"k":1,"\u212a":2}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := Check(data, Options{ExactKeys: true, MaxDepth: 1000})
		refused, _ := errors.AsType[*Error](err)
		if !json.Valid(data) != (refused != nil && (refused.Kind == Syntax || refused.Kind == TrailingData)) && (refused == nil || refused.Kind != NotUTF8) {
			t.Fatalf("%q: %v", data, err)
		}
		if refused == nil || refused.Kind == DuplicateKey {
			dec := json.NewDecoder(bytes.NewReader(data))
			dec.UseNumber() // 1e999 is valid
			if twice := hasDuplicate(dec); twice != (refused != nil) {
				t.Fatalf("%q: %v", data, err)
			}
			n := 0
			for m := range Members(data) {
				if n++; !json.Valid(m.Value) || !bytes.Equal(data[m.Offset:m.Offset+len(m.Value)], m.Value) {
					t.Fatalf("%q: %q is not a value", data, m.Value)
				}
			}
			if list := []json.RawMessage(nil); json.Unmarshal(data, &list) == nil && len(list) != n {
				t.Fatalf("%q: %d members", data, n)
			}
		}
		// A valid text gives a struct the same values, whether the first or the last of equal keys counts.
		if Check(data, Options{}) == nil {
			var first, last destination
			if json.Unmarshal(data, &last) == nil && json.Unmarshal(reversed(data), &first) == nil && (first.A != last.A || first.K != last.K) {
				t.Fatalf("%q: %v and %v", data, first, last)
			}
		}
	})
}

// hasDuplicate reports whether an object in the next value has a key twice.
func hasDuplicate(dec *json.Decoder) bool {
	token, err := dec.Token()
	if err != nil {
		return false
	}
	seen, twice := map[any]bool{}, false
	if token == json.Delim('{') || token == json.Delim('[') {
		for dec.More() {
			if token == json.Delim('{') {
				key, _ := dec.Token()
				twice = twice || seen[key]
				seen[key] = true
			}
			twice = hasDuplicate(dec) || twice
		}
		_, _ = dec.Token()
	}
	return twice
}

// reversed returns an object with its members in the opposite order.
func reversed(data []byte) []byte {
	out := []byte("}")
	for m := range Members(data) {
		key, _ := json.Marshal(m.Key)
		out = append([]byte(","+string(key)+":"+string(m.Value)), out...)
	}
	return append([]byte("{"), bytes.TrimPrefix(out, []byte(","))...)
}
