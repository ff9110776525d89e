// Driver of the Go package github.com/miekg/dns for the studies of renderers: renders DNS messages, and times
// that itself. Requests and answers are those of dnspython.py in the folder above, whose head describes them.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
)

const library = "github.com/miekg/dns"

// Most renderings between two readings of the clock.
const most = 16

type driver struct {
	requests *bufio.Reader
	messages []*dns.Msg
	// A buffer that is long enough for each message without compression: the package asks for that.
	buffer []byte
}

func main() {
	d := driver{requests: bufio.NewReader(os.Stdin)}
	answers := bufio.NewWriter(os.Stdout)
	for {
		line, err := d.requests.ReadString('\n')
		if err != nil {
			return
		}
		answer, err := d.answer(strings.Fields(line))
		if err != nil {
			fmt.Fprintf(answers, "error %s\n", strings.Join(strings.Fields(err.Error()), " "))
		} else {
			fmt.Fprintf(answers, "ok %d\n", len(answer))
			answers.Write(answer)
		}
		if answers.Flush() != nil {
			return
		}
	}
}

func (d *driver) answer(request []string) ([]byte, error) {
	if len(request) == 0 {
		return nil, fmt.Errorf("a request is empty")
	}
	numbers := make([]int, 0, 2)
	for _, word := range request[1:] {
		number, err := strconv.Atoi(word)
		if err != nil || number < 0 {
			return nil, fmt.Errorf("%q is not a number", word)
		}
		numbers = append(numbers, number)
	}
	switch {
	case request[0] == "version" && len(numbers) == 0:
		return []byte(version()), nil
	case request[0] == "message" && len(numbers) == 1:
		return nil, d.message(numbers[0])
	case request[0] == "render" && len(numbers) == 1:
		return d.render(numbers[0])
	case request[0] == "time" && len(numbers) == 2:
		return d.time(numbers[0], time.Duration(numbers[1]))
	}
	return nil, fmt.Errorf("%q is not a request", strings.Join(request, " "))
}

func version() string {
	text := library
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == library {
				text += " " + module.Version
			}
		}
	}
	return text + ", " + runtime.Version()
}

func (d *driver) message(length int) error {
	wire := make([]byte, length)
	if _, err := io.ReadFull(d.requests, wire); err != nil {
		return err
	}
	message := new(dns.Msg)
	if err := message.Unpack(wire); err != nil {
		return err
	}
	if needed := message.Len() + 1; needed > len(d.buffer) {
		d.buffer = make([]byte, needed)
	}
	message.Compress = true
	d.messages = append(d.messages, message)
	return nil
}

func (d *driver) render(number int) ([]byte, error) {
	if number >= len(d.messages) {
		return nil, fmt.Errorf("there is no message %d", number)
	}
	return d.messages[number].PackBuffer(d.buffer)
}

func (d *driver) time(number int, least time.Duration) ([]byte, error) {
	if _, err := d.render(number); err != nil {
		return nil, err
	}
	count, passes := 0, 1
	start := time.Now()
	for {
		for range passes {
			d.render(number)
		}
		count += passes
		if total := time.Since(start); total >= least {
			return fmt.Appendf(nil, "%d %d", count, total.Nanoseconds()), nil
		}
		passes = min(most, 2*passes)
	}
}
