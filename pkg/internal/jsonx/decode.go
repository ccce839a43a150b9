package jsonx

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
)

// defaultDepth is the maximum nesting of objects and arrays if [Options.MaxDepth] is 0.
const defaultDepth = 64

// Options configure [Decode] and [Check]. The zero value is for documents that are decoded into structs.
type Options struct {
	MaxBytes int // of the document; 0 for no limit
	MaxDepth int // maximum nesting of objects and arrays; 0 for [defaultDepth]

	// ExactKeys accepts keys that differ only in case. Use it only if the document is decoded into maps, because a
	// struct would get the value of the last such key.
	ExactKeys bool

	KnownFields bool // reject keys without a field in the destination struct
	UseNumber   bool // decode numbers into an any as [json.Number], as written, instead of float64
}

// Kind is the reason why a document was rejected.
type Kind int

// Kinds, in the order of the checks.
const (
	TooLarge     Kind = iota + 1 // more than MaxBytes
	NotUTF8                      // bytes that are not UTF-8
	Syntax                       // not JSON, or it ends too early
	TrailingData                 // something follows the value
	TooDeep                      // nested deeper than MaxDepth
	DuplicateKey                 // a key appears twice in one object
	// the value does not fit the destination, or has a field that the destination does not have
	WrongValue
)

// Error is the reason and the position of a rejected document.
type Error struct {
	Kind Kind
	Key  string // the second of two equal keys, as written

	// Offset counts bytes from 0. Line and Column, in bytes, count from 1; Line is 0 if the position is not known, as
	// with an unknown field.
	Offset, Line, Column int

	Err error // of encoding/json, for Syntax and WrongValue; [io.ErrUnexpectedEOF] if the document ends too early

	limit, size int
}

// Error returns the reason, without the position.
func (e *Error) Error() string {
	switch e.Kind {
	case TooLarge:
		return fmt.Sprintf("it has %d bytes; the limit is %d", e.size, e.limit)
	case NotUTF8:
		return "it is not valid UTF-8"
	case TrailingData:
		return "unexpected data after the JSON document"
	case TooDeep:
		return fmt.Sprintf("it is nested more than %d levels deep", e.limit)
	case DuplicateKey:
		return fmt.Sprintf("the key %.80q is duplicated", e.Key)
	case Syntax:
		return "invalid JSON: " + e.Err.Error()
	case WrongValue:
	}
	return e.Err.Error()
}

// Code returns [diag.Invalid].
func (e *Error) Code() diag.Code { return diag.Invalid }

// KindOf returns the kind of an error of this package, or 0 for other errors.
func KindOf(err error) Kind {
	refused, ok := errors.AsType[*Error](err)
	if !ok {
		return 0
	}
	return refused.Kind
}

// Unwrap returns the error of encoding/json.
func (e *Error) Unwrap() error { return e.Err }

// Decode checks a document, as [Check] does, and decodes it into v, as [json.Unmarshal] does.
func Decode(data []byte, v any, o Options) error {
	if err := Check(data, o); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if o.KnownFields {
		dec.DisallowUnknownFields()
	}
	if o.UseNumber {
		dec.UseNumber()
	}
	err := dec.Decode(v)
	if err == nil {
		return nil
	}
	wrong := &Error{Kind: WrongValue, Err: err}
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return wrong.setPosition(data, int(typed.Offset))
	}
	return wrong
}

// Check returns the first reason to reject a document; see [Kind].
func Check(data []byte, o Options) error {
	if o.MaxBytes > 0 && len(data) > o.MaxBytes {
		return (&Error{Kind: TooLarge, size: len(data), limit: o.MaxBytes}).setPosition(nil, 0)
	}
	if !utf8.Valid(data) {
		return (&Error{Kind: NotUTF8}).setPosition(data, invalidUTF8(data))
	}
	if !json.Valid(data) {
		return checkSyntax(data)
	}
	if err := CheckKeys(data, o); err != nil {
		return err
	}
	return nil
}

// invalidUTF8 returns the offset of the first bytes that are not UTF-8.
func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(data)
}

// checkSyntax returns the error of a document that is not valid JSON.
func checkSyntax(data []byte) *Error {
	dec := json.NewDecoder(bytes.NewReader(data))
	err := dec.Decode(new(json.RawMessage))
	if err == nil {
		end := int(dec.InputOffset())
		end += len(data[end:]) - len(bytes.TrimLeft(data[end:], space))
		return (&Error{Kind: TrailingData}).setPosition(data, end)
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		// the offset includes the invalid byte
		return (&Error{Kind: Syntax, Err: err}).setPosition(data, int(syntax.Offset)-1)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return (&Error{Kind: Syntax, Err: err}).setPosition(data, len(data))
}

// setPosition sets the position.
func (e *Error) setPosition(data []byte, offset int) *Error {
	e.Offset = max(0, min(offset, len(data)))
	e.Line, e.Column = position(data, e.Offset)
	return e
}

// position returns the line and the column of an offset; both count from 1, and columns are bytes.
func position(data []byte, offset int) (line, column int) {
	before := data[:max(0, min(offset, len(data)))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}
