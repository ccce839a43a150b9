package flow

import "slices"

// arg is an argument of a call.
type arg struct {
	key string // of a keyword argument
	v   value
}

// argOf returns the argument with one of the keys, or the n-th positional one; n is -1 for keywords only.
func argOf(args []arg, n int, keys ...string) value {
	i := 0
	for _, a := range args {
		if a.key != "" && slices.Contains(keys, a.key) {
			return a.v
		}
		if a.key == "" {
			if i == n {
				return a.v
			}
			i++
		}
	}
	return value{}
}

func hasArg(args []arg, keys ...string) bool {
	for _, a := range args {
		if slices.Contains(keys, a.key) {
			return true
		}
	}
	return false
}

func unionOf(args []arg) (v value) {
	for i := range args {
		v.from = v.from.with(args[i].v.from)
	}
	return v
}

func valuesOf(args []arg) []value {
	out := make([]value, len(args))
	for i, a := range args {
		out[i] = a.v
	}
	return out
}
