from cassandra.cluster import Cluster


def test_stores_a_user(cassandra):
    host, port = cassandra
    with Cluster([host], port=port) as cluster, cluster.connect() as session:
        session.execute(
            "CREATE KEYSPACE app WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
        )
        session.execute("CREATE TABLE app.users (id int PRIMARY KEY, name text)")
        session.execute("INSERT INTO app.users (id, name) VALUES (%s, %s)", (1, "Ada"))
        assert session.execute("SELECT name FROM app.users WHERE id = 1").one().name == "Ada"
