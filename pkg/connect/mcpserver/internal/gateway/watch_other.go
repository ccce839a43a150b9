//go:build !unix

package gateway

func watch(int) (release func()) { return func() {} }
