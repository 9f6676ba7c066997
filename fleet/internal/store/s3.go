package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// bucket is a bucket of an object store, below a prefix.
type bucket struct {
	client *minio.Client
	name   string
	prefix string // "" or ends in a slash
}

// partBytes is the size of the parts in which a large file is uploaded.
const partBytes = 16 << 20

var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	awsHost    = "s3.amazonaws.com"
)

// parseS3 parses s3://bucket/prefix. Errors do not quote the place, which may contain a
// password.
func parseS3(place string) (name, prefix string, err error) {
	u, err := url.Parse(place)
	switch {
	case err != nil:
		return "", "", errors.New("the place of the tables is no address: it is s3://bucket/prefix")
	case u.User != nil, u.RawQuery != "", u.Fragment != "", strings.ContainsAny(place, "@?#"):
		return "", "", errors.New("the place of the tables has more than s3://bucket/prefix: credentials are taken from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY alone")
	case u.Scheme != "s3", !bucketName.MatchString(u.Host):
		return "", "", errors.New("the place of the tables has no name of a bucket: it is s3://bucket/prefix")
	}
	if prefix = strings.Trim(u.Path, "/"); prefix != "" {
		prefix += "/"
	}
	return u.Host, prefix, nil
}

// openS3 opens s3://bucket/prefix. Credentials and the endpoint come from the environment
// variables of the AWS tools.
func openS3(place string) (Store, error) {
	name, prefix, err := parseS3(place)
	if err != nil {
		return nil, err
	}
	host, secure := awsHost, true
	if e := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL")); e != "" {
		x, err := url.Parse(e)
		if err != nil || x.Host == "" || x.User != nil || x.RawQuery != "" || x.Scheme != "http" && x.Scheme != "https" {
			return nil, errors.New("AWS_ENDPOINT_URL is no http:// or https:// address of a server and nothing else")
		}
		host, secure = x.Host, x.Scheme == "https"
	}
	if os.Getenv("AWS_ACCESS_KEY_ID") == "" || os.Getenv("AWS_SECRET_ACCESS_KEY") == "" {
		return nil, errors.New("an object store needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment (and AWS_ENDPOINT_URL, if it is not Amazon's)")
	}
	c, err := minio.New(host, &minio.Options{
		Creds:  credentials.NewEnvAWS(),
		Secure: secure,
		Region: cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
	})
	if err != nil {
		return nil, fmt.Errorf("opening the object store: %w", err)
	}
	return &bucket{c, name, prefix}, nil
}

func (b *bucket) String() string { return "s3://" + b.name + "/" + b.prefix }

// identity distinguishes buckets of different servers, for their local copies.
func (b *bucket) identity() string {
	return b.client.EndpointURL().Host + "/" + b.name + "/" + b.prefix
}

// Identity returns a text that is unique to a store.
func Identity(s Store) string {
	if b, ok := s.(*bucket); ok {
		return b.identity()
	}
	return s.String()
}

func (b *bucket) Stage(string) (string, error) {
	f, err := os.CreateTemp("", "scopeview-*.parquet")
	if err != nil {
		return "", fmt.Errorf("making a temporary file: %w", err)
	}
	return f.Name(), f.Close()
}

func (b *bucket) Put(ctx context.Context, staged, key string) error {
	_, err := b.client.FPutObject(ctx, b.name, b.prefix+key, staged, minio.PutObjectOptions{
		ContentType: "application/vnd.apache.parquet", PartSize: partBytes,
	})
	if err != nil {
		return fmt.Errorf("putting %s into bucket %s: %w", key, b.name, err)
	}
	return os.Remove(staged)
}

func (b *bucket) List(ctx context.Context, prefix string) (list []Object, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for o := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}) {
		if o.Err != nil {
			return nil, fmt.Errorf("listing %s in bucket %s: %w", prefix, b.name, o.Err)
		}
		list = append(list, Object{strings.TrimPrefix(o.Key, b.prefix), o.Size, o.LastModified})
	}
	return list, nil
}

func (b *bucket) Get(ctx context.Context, key, to string) error {
	if err := b.client.FGetObject(ctx, b.name, b.prefix+key, to, minio.GetObjectOptions{}); err != nil {
		return fmt.Errorf("getting %s from bucket %s: %w", key, b.name, err)
	}
	return nil
}
