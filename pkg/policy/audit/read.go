package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
)

// Read says what was found in a log.
type Read struct {
	Records int64 // how many there are
	Damaged int64 // how many lines are none: torn, of something else, or longer than a record can be
}

// ReadFile reads the log at path as it is now, with the files that it was in before, and hands on its records in their
// order. What is appended meanwhile is left out. A log that is not there has no records; one that is no regular file is
// an error.
func ReadFile(ctx context.Context, path string, each func(Record) error) (read Read, err error) {
	files, err := Files(path)
	if err != nil {
		return Read{}, err
	}
	for _, file := range files {
		of, err := readOne(ctx, file, each)
		read.Records += of.Records
		read.Damaged += of.Damaged
		if err != nil {
			return read, err
		}
	}
	return read, nil
}

func readOne(ctx context.Context, path string, each func(Record) error) (Read, error) {
	f, size, err := openLog(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Read{}, nil
	}
	if err != nil {
		return Read{}, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return ReadAll(ctx, io.LimitReader(f, size), each)
}

// ReadAll reads the lines of a log to their end and hands on the records, one after the other: of a log of any size one
// line is in memory. Lines that are no records are counted and passed over. An error of each ends it.
func ReadAll(ctx context.Context, r io.Reader, each func(Record) error) (read Read, err error) {
	in := bufio.NewReaderSize(r, maxLine)
	for n := 0; ; n++ {
		if n%1000 == 0 && ctx.Err() != nil {
			return read, ctx.Err()
		}
		line, err := nextLine(in)
		if errors.Is(err, io.EOF) {
			return read, nil
		}
		if err != nil {
			return read, err
		}
		record, ok := parse(line)
		if !ok {
			read.Damaged++
			continue
		}
		read.Records++
		if err := each(record); err != nil {
			return read, err
		}
	}
}

// nextLine returns a line without its end, or nothing of one that is too long. It is valid until the next call.
func nextLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	long := errors.Is(err, bufio.ErrBufferFull)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = in.ReadSlice('\n')
	}
	switch {
	case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && !long):
		return nil, err
	case long:
		return nil, nil
	}
	return bytes.TrimSuffix(line, []byte("\n")), nil
}
