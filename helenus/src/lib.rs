//! An embedded Cassandra: the helenus command, a test server and the embedded service.
